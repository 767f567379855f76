"""How the page of a run looks, and the few lines of script behind its chart. Nothing is fetched from anywhere."""

STYLE = """
:root{color-scheme:light dark;--paper:#fbfbf9;--card:#fff;--ink:#1c2024;--soft:#5c6570;--line:#dfe2e6;
--good:#157347;--good-paper:#e5f4ea;--bad:#b3261e;--bad-paper:#fbeae8;--mid:#8a5300;--mid-paper:#fcf1dd;
--model:#3667cf;--tests:#14866d;--person:#c27803;--harness:#8b949e;--add:#e2f5e6;--add-mark:#b3e2bf;--del:#fdeaea;
--del-mark:#f6c1bf;--focus:#1f5fd6;--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
@media(prefers-color-scheme:dark){:root{--paper:#14171a;--card:#1b1f24;--ink:#e4e7ea;--soft:#9aa5b1;--line:#30363d;
--good:#5fd08a;--good-paper:#15301f;--bad:#ff9a92;--bad-paper:#3a1b1a;--mid:#f0b65a;--mid-paper:#362811;
--model:#6f9bff;--tests:#3fbf9f;--person:#e5a13a;--harness:#6b747e;--add:#17301f;--add-mark:#27603a;--del:#3a1d1e;
--del-mark:#7a302f;--focus:#8ab4ff}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
@media(prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main,footer{max-width:62rem;margin:0 auto;padding:0 1.25rem}
main{padding-top:2rem}
footer{color:var(--soft);font-size:.85rem;padding-bottom:2.5rem;overflow-wrap:anywhere}
h1{font:600 1.2rem/1.4 var(--mono);margin:.15rem 0 .9rem;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:2.4rem 0 .8rem}
h3{font-size:1rem;margin:0}
p{margin:.4rem 0}
a{color:var(--focus)}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px;border-radius:3px}
code,pre,.mono{font-family:var(--mono);font-size:.84rem}
.eyebrow{margin:0;color:var(--soft);font-size:.9rem}
.outcome{border:1px solid var(--line);border-left:6px solid var(--tone);border-radius:8px;background:var(--card);
padding:1rem 1.2rem;overflow-wrap:anywhere}
.outcome strong{color:var(--tone);font-size:1.15rem}
.outcome p{white-space:pre-line}
.good{--tone:var(--good);--tone-paper:var(--good-paper)}
.bad{--tone:var(--bad);--tone-paper:var(--bad-paper)}
.mid{--tone:var(--mid);--tone-paper:var(--mid-paper)}
.badge{display:inline-block;padding:.05rem .55rem;border-radius:1rem;background:var(--tone-paper);color:var(--tone);
font-size:.85rem;font-weight:600}
dl.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.8rem 1.5rem;margin:1.2rem 0}
dl.facts div{min-width:0}
dt{color:var(--soft);font-size:.82rem}
dd{margin:0;overflow-wrap:anywhere}
.split{display:block;border-radius:5px;overflow:hidden}
.meter{display:block;margin-top:.25rem}
.meter .rail{fill:var(--line)}.meter .used{fill:var(--model)}
.key{display:flex;flex-wrap:wrap;gap:.3rem 1.3rem;list-style:none;padding:0;margin:.6rem 0;font-size:.9rem}
.dot{display:inline-block;width:.7rem;height:.7rem;border-radius:2px;margin-right:.4rem}
.dot.model,.dot.loading{background:var(--model)}.dot.loading{opacity:.5}.dot.tests{background:var(--tests)}
.dot.person{background:var(--person)}.dot.harness{background:var(--harness)}
rect.model,rect.loading{fill:var(--model)}rect.loading{opacity:.55}rect.tests{fill:var(--tests)}
rect.person{fill:var(--person)}rect.harness{fill:var(--harness)}
.panel{border:1px solid var(--line);border-radius:8px;background:var(--card);padding:1rem 1.2rem}
.timeline{display:grid;grid-template-columns:4.6rem minmax(0,1fr)}
.lanes{display:grid;grid-auto-rows:34px;padding-top:22px;align-items:center;color:var(--soft);font-size:.85rem}
.chart{display:block;overflow:visible}
.lane{stroke:var(--line)}.mark{stroke:var(--soft);stroke-dasharray:2 3;opacity:.7}
.label{fill:var(--soft);font-size:11px}
.hatch{fill:url(#hatch);pointer-events:none}.gap{fill:var(--card);opacity:.55}
.bar{outline:none}.bar:hover rect:first-of-type,.bar:focus rect:first-of-type{stroke:var(--ink);stroke-width:2}
.detail{min-height:1.6em;color:var(--soft);font-size:.9rem;margin-bottom:0}
details.table{margin-top:.6rem;font-size:.9rem}
summary{cursor:pointer}
table{border-collapse:collapse;margin:.6rem 0;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line)}
.step{border:1px solid var(--line);border-radius:8px;background:var(--card);margin:0 0 1rem;padding:.9rem 1.2rem 1rem;
scroll-margin-top:1rem}
.step:target,.step.lit{border-color:var(--focus);box-shadow:0 0 0 1px var(--focus)}
.step header{display:flex;flex-wrap:wrap;gap:.2rem 1rem;align-items:baseline;margin-bottom:.4rem}
.meta{color:var(--soft);font-size:.85rem}
.said{border-left:3px solid var(--line);padding-left:.8rem;white-space:pre-wrap;overflow-wrap:anywhere}
.call{margin:.8rem 0 .2rem;overflow-wrap:anywhere}
.call code{font-weight:600}
.arguments{margin:.2rem 0 .2rem 1rem}
.arguments div{display:grid;grid-template-columns:5.5rem minmax(0,1fr)}
.arguments pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere}
.line{margin:.25rem 0 .25rem 1rem;color:var(--tone,var(--ink));overflow-wrap:anywhere}
.note{color:var(--soft);font-size:.9rem}
.proposal{margin:.8rem 0;border-top:1px dashed var(--line);padding-top:.6rem}
pre.diff,pre.code{background:var(--paper);border:1px solid var(--line);border-radius:6px;overflow-x:auto;padding:.5rem 0;
margin:.5rem 0;line-height:1.5}
pre.code{padding:.6rem .8rem}
pre.diff span{display:block;padding:0 .8rem;width:max-content;min-width:100%}
.add{background:var(--add)}.del{background:var(--del)}.hunk,.file{color:var(--soft)}
pre.diff mark{color:inherit;border-radius:2px}.add mark{background:var(--add-mark)}.del mark{background:var(--del-mark)}
@media(max-width:34rem){main,footer{padding-left:.8rem;padding-right:.8rem}.panel,.step,.outcome{padding:.8rem}
.timeline{grid-template-columns:3.9rem minmax(0,1fr)}.arguments{margin-left:0}.line{margin-left:0}
.arguments div{grid-template-columns:1fr}dl.facts{grid-template-columns:1fr 1fr}}
@media print{.step,.panel{break-inside:avoid}.detail,details.table{display:none}}
"""

SCRIPT = """
(function(){
var bars=Array.prototype.slice.call(document.querySelectorAll('.bar')),detail=document.getElementById('detail');
if(!bars.length||!detail)return;
function step(bar){return document.getElementById(bar.getAttribute('href').slice(1));}
function show(bar,on){
if(on)detail.textContent=bar.getAttribute('aria-label');
var card=step(bar);if(card)card.classList.toggle('lit',on);}
bars.forEach(function(bar,i){
bar.setAttribute('tabindex',i?'-1':'0');
bar.addEventListener('mouseenter',function(){show(bar,true);});
bar.addEventListener('mouseleave',function(){show(bar,false);});
bar.addEventListener('focus',function(){show(bar,true);});
bar.addEventListener('blur',function(){show(bar,false);});
bar.addEventListener('keydown',function(event){
var next={ArrowRight:i+1,ArrowDown:i+1,ArrowLeft:i-1,ArrowUp:i-1,Home:0,End:bars.length-1}[event.key];
if(next===undefined||!bars[next])return;
event.preventDefault();
bar.setAttribute('tabindex','-1');bars[next].setAttribute('tabindex','0');bars[next].focus();});});
})();
"""
