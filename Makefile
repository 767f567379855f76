# The commands of the README. Everything is installed into .cache/ and .venv/, nothing outside the checkout.
SHELL := /bin/sh
DEMO := .cache/demo
.DEFAULT_GOAL := help

help:
	@echo "make demo   fix a real failing test: a copy of toy_repo, the best model at hand"
	@echo "make tour   watch the loop itself, with a scripted model on the wire"
	@echo "make live   the same with a real Ollama and two of its models; a report (OUT=FILE saves it)"
	@echo "make test   run every check and test, the editors' included"
	@echo "make bench  measure: ratios and medians, printed as tables"
	@echo "make vsix   build the VS Code extension"
	@echo "make clean  remove what the other commands made"

demo: $(DEMO)/bin/regreen
	@$(DEMO)/bin/python tests/tour/demo.py

tour: $(DEMO)/bin/regreen
	@$(DEMO)/bin/python tests/tour/tour.py

live: $(DEMO)/bin/regreen
	@$(DEMO)/bin/python tests/tour/live.py $(if $(OUT),--out "$(OUT)")

test:
	@.ci/test.sh

bench: .venv/bin/regreen
	@.venv/bin/python bench/all.py

vsix: .venv/bin/regreen
	@cd vscode-extension && npm ci --silent && npm run --silent package

lock:
	for group in demo dev; do \
	  uv pip compile --quiet --universal --generate-hashes --python-version 3.10 --no-header --no-annotate \
	    pyproject.toml --group $$group -o requirements-$$group.lock; \
	done

clean:
	rm -rf .cache .venv vscode-extension/node_modules vscode-extension/dist vscode-extension/bundled vscode-extension/*.vsix

$(DEMO)/bin/regreen: requirements-demo.lock .ci/venv.sh
	@.ci/venv.sh $(DEMO) requirements-demo.lock && touch $@

.venv/bin/regreen: requirements-dev.lock .ci/venv.sh
	@.ci/venv.sh .venv requirements-dev.lock && touch $@

.PHONY: help demo tour live test bench vsix lock clean
