"""Names of programs and subcommands by work family: data for `capture.shell.families`."""

from __future__ import annotations

_PROGRAMS = """
test pytest py.test nosetests nose2 tox nox jest vitest mocha ava tap jasmine karma phpunit pest rspec ctest
test bats behave robot newman gotestsum ginkgo busted testcafe minitest parallel_rspec paratest green stestr
test trial cucumber
lint ruff flake8 pylint black isort mypy dmypy pyright basedpyright ty pyflakes pycodestyle pydocstyle bandit
lint eslint eslint_d prettier stylelint biome oxlint tslint vue-tsc shellcheck shfmt hadolint yamllint
lint markdownlint markdownlint-cli2 golangci-lint staticcheck gofmt goimports govulncheck rubocop standardrb
lint clang-format clang-tidy cppcheck ktlint detekt swiftlint swiftformat pre-commit lefthook phpstan psalm
lint php-cs-fixer phpcs pint rustfmt sqlfluff actionlint vulture radon xenon codespell lint-imports
lint import-linter djlint autoflake pyupgrade buf tflint svelte-check knip xo standard checkov semgrep
lint interrogate deptry typos dprint mdformat stylua luacheck vale fieldalignment modernize nilaway errcheck
lint revive
build gcc g++ cc c++ clang clang++ rustc javac kotlinc scalac swiftc ghc ninja webpack webpack-cli rollup
build esbuild parcel tsup swc babel xcodebuild msbuild meson protoc wasm-pack pyinstaller nuitka tsc elm ocamlc
build dune latexmk pdflatex xelatex electron-builder ncc pkg ld ar buildah kaniko sphinx-build mkdocs
install apt apt-get apk dnf yum zypper pacman yay port choco winget scoop snap flatpak nvm fnm volta asdf
install corepack pip pip3 pip-sync easy_install gem conda mamba micromamba brew composer
network curl wget http https httpie xh ssh scp sftp rsync nc ncat netcat ping dig nslookup host telnet traceroute
network websocat grpcurl aria2c ftp lftp Invoke-WebRequest Invoke-RestMethod iwr irm
github gh glab hub
container docker podman docker-compose kubectl helm minikube kind k9s skaffold nerdctl crictl
search grep egrep fgrep rg ag ack find fd fdfind ls tree exa eza locate ripgrep dir ast-grep sg zgrep
search Select-String Get-ChildItem gci
read cat head tail less more bat batcat nl tac sed awk gawk jq yq wc od xxd hexdump strings Get-Content gc
read type column
trivial cd pushd popd echo printf true false : export set unset source . pwd sleep date wait read local declare
trivial shopt trap exit return break continue ulimit umask alias shift mkdir clear test [ [[ Write-Host
trivial Write-Output Set-Location Start-Sleep sync
"""

# tool, then family:subcommand,subcommand ...; * is any subcommand, or none; a tool may have several lines
_TOOLS = """
cargo test:test,t,nextest,tarpaulin,llvm-cov,miri,insta build:build,b,check,c,rustc,doc,d,package,zigbuild
cargo lint:clippy,fmt,audit,deny,machete,udeps,fix install:install,add,remove,rm,update,fetch,binstall,uninstall
go test:test build:build,generate lint:vet,fmt,fix install:install,get,mod
deno test:test,bench lint:lint,fmt,check install:install,add,cache,remove build:compile,bundle
dotnet test:test,vstest build:build,publish,pack,msbuild,clean install:restore,add,tool,workload lint:format
swift test:test build:build install:package lint:format
flutter test:test,drive build:build install:pub,create,upgrade lint:analyze,format
dart test:test build:compile,run-build install:pub lint:analyze,format,fix
mix test:test build:compile,release install:deps.get,deps.update,local.hex lint:format,credo,dialyzer
bazel test:test,coverage build:build,fetch
bazelisk test:test build:build
buck2 test:test build:build
pants test:test build:package,compile lint:lint,fmt,check
zig test:test build:build,build-exe,build-lib,cc lint:fmt
stack test:test build:build,install
cabal test:test build:build install:install,update
sbt test:test build:compile,package,assembly
rustup install:*
pyenv install:install
rbenv install:install
mise install:install,use,i
uv install:sync,add,remove,lock,pip,venv,tool,python,init build:build lint:format
poetry install:install,add,remove,update,lock,sync build:build,publish lint:check
pdm install:install,add,remove,update,lock,sync build:build
rye install:sync,add,remove,lock build:build lint:lint,fmt test:test
hatch build:build test:test lint:fmt install:env
pipenv install:install,update,lock,sync,uninstall
pipx install:install,upgrade,inject
flit build:build install:install
maturin build:build,develop
bundle install:install,update,add,lock
pod install:install,update
cypress test:run,open install:install
playwright test:test install:install,install-deps
meson test:test build:setup,compile,configure install:install
ng test:test,e2e,t build:build,b lint:lint
vite build:build
next build:build lint:lint
nuxt build:build,generate
nuxi build:build,generate lint:typecheck
astro build:build lint:check
remix build:build
gatsby build:build
hugo build:*
expo build:build,export lint:lint install:install
nx test:test,e2e,affected:test build:build lint:lint,format
react-scripts test:test build:build
terraform lint:fmt,validate install:init
tofu lint:fmt,validate install:init
forge test:test build:build lint:fmt install:install
hardhat test:test build:compile
anchor test:test build:build
gleam test:test build:build lint:format
vale lint:*
rails test:test,test:system
rake test:test,spec lint:rubocop
artisan test:test
hatchling build:build
packer build:build lint:validate
pio build:run test:test
esphome build:compile lint:config
arduino-cli build:compile install:lib,core
west build:build
idf.py build:build
wails build:build
tauri build:build
apm install:install
opam install:install
luarocks install:install
nimble install:install test:test build:build
elm-test test:*
lein test:test build:uberjar
storybook build:build
docker-compose build:build
"""


_MOST = 1_024
"""Programs of which it is remembered what they are: the same few are asked for again and again."""
_families: dict[str, str] = {}
_verbs: dict[str, dict[str, str]] = {}


def family(name: str) -> str:
    """The family of a program; empty when it is not listed. Searched as text: no hook needs the whole table."""
    found = _families.get(name)
    if found is None:
        if len(_families) >= _MOST:
            _families.clear()
        found = _families[name] = _family(name)
    return found


def _family(name: str) -> str:
    if not name or " " in name or "\n" in name:
        return ""
    at = max(_PROGRAMS.find(f" {name} "), _PROGRAMS.find(f" {name}\n"))
    if at < 0:
        return ""
    start = _PROGRAMS.rfind("\n", 0, at) + 1
    return _PROGRAMS[start : _PROGRAMS.index(" ", start)]


def verbs(tool: str) -> dict[str, str]:
    """Subcommand -> family of a tool that does several kinds of work; empty for any other. For reading only."""
    found = _verbs.get(tool)
    if found is None:
        if len(_verbs) >= _MOST:
            _verbs.clear()
        found = _verbs[tool] = _listed(tool)
    return found


def _listed(tool: str) -> dict[str, str]:
    found: dict[str, str] = {}
    if " " in tool or "\n" in tool:
        return found
    at = _TOOLS.find(f"\n{tool} ")
    while at >= 0:
        for kind in _TOOLS[at + len(tool) + 2 : _TOOLS.index("\n", at + 1)].split():
            meaning, _, listed = kind.partition(":")
            found.update(dict.fromkeys(listed.split(","), meaning))
        at = _TOOLS.find(f"\n{tool} ", at + 1)
    return found


def words(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())
