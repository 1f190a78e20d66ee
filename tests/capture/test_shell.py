"""A command line is known by its tokens: what it does, in which family, on which file."""

from __future__ import annotations

import shlex
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capture.event import OBS_TYPES
from capture.shell import message, parse
from capture.shell.scan import scan

TYPES = [
    # git: what is a commit or a push, and what only speaks of one
    ("git commit -m 'Fix it'", "git_commit"),
    ("git add -A && git commit -qm x && git push", "git_commit"),
    ("git -C ../lib commit -m x", "git_commit"),
    ("git -c user.name=a -c commit.gpgsign=false commit --amend --no-edit", "git_commit"),
    ("GIT_AUTHOR_DATE=now git commit -F -", "git_commit"),
    ("git commit --dry-run", "git_other"),
    ("git push origin main", "git_push"),
    ("cd lib; sudo -u me git push --force-with-lease", "git_push"),
    ("git push --dry-run", "git_other"),
    ("git stash push -m 'git push'", "git_other"),
    ("git log --grep commit", "git_other"),
    ("git log --oneline | grep push", "git_other"),
    ("git grep commit", "search"),
    ("echo git push", "command"),
    ("echo 'a && git push'", "command"),
    ('echo "a; git commit"', "command"),
    ("# git push\ntrue", "command"),
    ("cat <<EOF\ngit push\nEOF", "command"),
    ("python - <<'EOF'\nimport os\ngit commit\nEOF", "command"),
    ("echo $(git push)", "git_push"),
    ("echo `git commit -m x`", "git_commit"),
    ('echo "now: $(git commit -m x)"', "git_commit"),
    ("(cd a && git push)", "git_push"),
    ("if ! git push; then echo no; fi", "git_push"),
    ("for r in a b; do git -C $r push; done", "git_push"),
    ("bash -c 'git push'", "git_push"),
    ("sh -lc \"cd x && bash -c 'git commit -m y'\"", "git_commit"),
    ("bash script.sh 'git push'", "command"),
    ("eval git push", "git_push"),
    # tests
    ("pytest -q", "test"),
    ("python -m pytest tests/", "test"),
    ("python3.12 -m unittest", "test"),
    ("uv run --with hypothesis pytest", "test"),
    ("poetry run tox -e py312", "test"),
    ("nox -s tests", "test"),
    ("cargo +nightly test --all", "test"),
    ("cargo nextest run", "test"),
    ("go test ./...", "test"),
    ("go test -tags=e2e -c ./e2e/... -o /dev/null", "build"),  # compiles tests and runs none
    ("cargo test --no-run", "build"),
    ("pytest --collect-only -q", "search"),
    ("pytest -c tests/pytest.ini", "test"),
    ("npm test", "test"),
    ("npm run test:unit -- --watch=false", "test"),
    ("pnpm --filter web test", "test"),
    ("yarn e2e", "test"),
    ("bun test", "test"),
    ("npx -y jest a.test.ts", "test"),
    ("npx playwright test", "test"),
    ("node --test", "test"),
    ("mvn -q verify", "test"),
    ("./gradlew :app:testDebug", "test"),
    ("dotnet test", "test"),
    ("bundle exec rspec", "test"),
    ("php artisan test", "test"),
    ("vendor/bin/phpunit", "test"),
    ("ctest --test-dir build", "test"),
    ("make check", "test"),
    ("just test", "test"),
    ("mise run test:ci", "test"),
    ("timeout 60 ./run_tests.sh", "test"),
    ("docker compose exec -T web pytest", "test"),
    ("time env A=b nice -n 5 pytest", "test"),
    ("find . -name 'test_*.py' | xargs -n1 pytest", "test"),
    ("npm run build && npm test", "test"),
    # builds
    ("make -j8", "build"),
    ("cmake --build build", "build"),
    ("cargo build --release", "build"),
    ("go build ./...", "build"),
    ("npm run build", "build"),
    ("mvn package -DskipTests", "build"),
    ("gradle assemble", "build"),
    ("docker build -t x .", "build"),
    ("tsc -p .", "build"),
    ("bazel build //...", "build"),
    # lints
    ("ruff check .", "lint"),
    ("npx eslint src", "lint"),
    ("npx tsc --noEmit", "lint"),
    ("cargo clippy -- -D warnings", "lint"),
    ("mypy --strict .", "lint"),
    ("pre-commit run -a", "lint"),
    ("yarn lint", "lint"),
    # installs
    ("pip install -e .", "install"),
    ("sudo apt-get -y install jq", "install"),
    ("npm ci", "install"),
    ("yarn", "install"),
    ("uv sync", "install"),
    ("brew install jq", "install"),
    ("poetry add httpx", "install"),
    ("pip list", "command"),
    # the rest
    ("gh pr create --title 'git push'", "github"),
    ("glab mr list", "github"),
    ("grep -rn foo src | head", "search"),
    ("cat a.py | grep foo", "search"),
    ("ls -la", "search"),
    ("find . -name '*.py' | wc -l", "search"),
    ("find . -name '*.pyc' -delete", "command"),
    ("cat README.md", "file_read"),
    ("cd src && sed -n '1,20p' a.py", "file_read"),
    ("head -50 a.py; echo; tail -5 b.py", "file_read"),
    ("cat a b > c", "file_write"),
    ("sort a > b", "command"),
    ("npm \\\n  test", "test"),
    ("cat > a.py <<'EOF'\nx = 1\nEOF", "file_write"),
    ("sed -i 's/a/b/' a.py", "file_edit"),
    ("curl -s https://example.org | sh", "command"),
    ("rm -rf build; ls", "command"),
    ("pytest --version", "command"),
    ("which pytest", "command"),
    ("/opt/entire-test enable", "command"),
    ("", "command"),
    ("   \n\n", "command"),
]


@pytest.mark.parametrize(("line", "obs_type"), TYPES)
def test_type(line: str, obs_type: str) -> None:
    assert parse(line).obs_type == obs_type


@pytest.mark.parametrize(
    ("line", "families"),
    [
        ("curl -sO x && pip install x && docker run --rm img pytest", ("install", "network", "test")),
        ("docker build .", ("build", "container")),
        ("git commit -m x && git push", ("git",)),
        ("echo hi", ()),
    ],
)
def test_families_of_the_whole_line(line: str, families: tuple[str, ...]) -> None:
    assert parse(line).families == families


@pytest.mark.parametrize(
    ("line", "path", "folder"),
    [
        ("cat src/a.py", "src/a.py", ""),
        ("cd src && cat a.py | head -5", "a.py", "src"),
        ("cd /tmp/x; cd y; head -n 20 a.py", "a.py", "/tmp/x/y"),
        ("(cd src); cat a.py", "a.py", ""),
        ("sed -n '10,20p' 'a b.py'", "a b.py", ""),
        ("sed -i '' 's/x/y/' a.py", "a.py", ""),
        ("sed -i -e 's/x/y/' a.py", "a.py", ""),
        ("awk -F: '{print $1}' data.csv", "data.csv", ""),
        ("jq '.a' < data.json", "data.json", ""),
        ("cat $FILE", None, ""),
        ("cat *.py", None, ""),
        ("cd $HOME && cat a.py", "a.py", None),
        ("cat > out/a.txt <<EOF\nx\nEOF", "out/a.txt", ""),
        ("echo x | tee -a log.txt", "log.txt", ""),
        ("pytest a.py", None, ""),
    ],
)
def test_file(line: str, path: str | None, folder: str | None) -> None:
    command = parse(line)
    assert (command.file_path, command.folder) == (path, folder)


@pytest.mark.parametrize(
    ("line", "masked"),
    [
        ("pytest", False),
        ("cd x && pytest", False),
        ("pytest && echo done", False),
        ("pytest | tail -5", True),
        ("cd x && pytest 2>&1 | tail -5", True),
        ("set -o pipefail; pytest | tail -5", False),
        ("(cd x && pytest) | tail", True),
        ("pytest; echo $?", True),
        ("pytest\n", False),
        ("pytest || true", True),
        ("pytest || exit 1", False),
        ("pytest && a; b", True),
        ("set -e; pytest; echo ok", False),
        ("bash -c 'pytest' | tail", True),
        ("pytest > log 2>&1", False),
    ],
)
def test_lost_exit_status(line: str, masked: bool) -> None:
    assert parse(line).masked is masked


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("git commit -m 'One line'", "One line"),
        ("git commit -am One", "One"),
        ("git commit -m Head -m 'Body text'", "Head\n\nBody text"),
        ("git commit --message='One line'", "One line"),
        (
            'git commit -m "$(cat <<\'EOF\'\nHead\n\nIt\'s `code` and "quotes"\nEOF\n)"',
            'Head\n\nIt\'s `code` and "quotes"',
        ),
        ("git commit -F - <<EOF\nFrom a file\nEOF", "From a file"),
        ("git add . && git -C a commit -q -m 'Then' && git push", "Then"),
        ("git commit", ""),
        ("git push -m x", ""),
    ],
)
def test_commit_message_as_typed(line: str, said: str) -> None:
    assert message(parse(line)) == said


def test_heredoc_text_is_no_command_and_what_follows_is() -> None:
    commands = scan("cat <<A <<-'B' > f\na && git push\nA\n\tb\n\tB\necho 'x y' # z\nls")
    assert [command.argv for command in commands] == [["cat"], ["echo", "x y"], ["ls"]]
    assert commands[0].writes == ["f"]


def test_a_heredoc_closed_by_its_bracket() -> None:
    assert [c.argv for c in scan('x "$(cat <<EOF\nbody\nEOF)" && y')] == [["cat"], ["x", "body"], ["y"]]


def test_redirections_are_no_arguments() -> None:
    assert [c.argv for c in scan("a 2>&1 >/dev/null <in b &> out; c 3 >&2 <<< 'd'")] == [["a", "b"], ["c", "3"]]


def test_powershell_keeps_backslashes_and_escapes_with_backticks() -> None:
    command = parse("Set-Location C:\\work; Get-Content .\\src\\a.py", powershell=True)
    assert (command.obs_type, command.file_path, command.folder) == ("file_read", ".\\src\\a.py", "C:\\work")
    assert parse('npm `\n test; Write-Host "git push"', powershell=True).obs_type == "test"


@given(st.lists(st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)))
def test_quoted_words_come_back(words: list[str]) -> None:
    found = scan(shlex.join(["cmd", *words]))
    assert [command.argv for command in found] == [["cmd", *words]]


@given(st.text())
@settings(max_examples=200)
def test_any_text_has_a_type(text: str) -> None:
    for powershell in (False, True):
        command = parse(text, powershell)
        assert command.obs_type in OBS_TYPES
        assert isinstance(message(command), str)


@given(st.text(alphabet="ab '\"\\$`(){}<>&|;#\n-=EOF", max_size=300))
@settings(max_examples=300)
def test_shell_signs_in_any_order_have_a_type(text: str) -> None:
    for powershell in (False, True):
        assert parse(text, powershell).obs_type in OBS_TYPES


@pytest.mark.parametrize(
    "unit",
    ["(", "$(", "((", "`", "'", '"', "<<E\n", "a|", "a\\", "$((", "${", '"$(', "bash -c '", "a''", "sudo ", "\n"],
)
def test_time_is_linear_in_the_length(unit: str) -> None:
    def cost(times: int) -> float:
        text = unit * times
        least = 9.0
        for _ in range(3):
            start = time.process_time()
            scan(text)
            least = min(least, time.process_time() - start)
        return least

    small, large = 4_000 // len(unit), 16_000 // len(unit)
    assert cost(large) < 12 * cost(small) + 0.01


def test_only_the_beginning_of_a_huge_command_is_read() -> None:
    text = "git commit -m x; " + "echo 'y' | cat; " * 500_000
    start = time.process_time()
    assert parse(text).obs_type == "git_commit"
    assert time.process_time() - start < 5  # to read it all takes minutes


@pytest.mark.parametrize(
    ("text", "obs_type"),
    [("pnpm pnpm install", "install"), ("yarn yarn test", "test"), ("npm npm", "command"), ("yarn npm audit", "lint")],
)
def test_a_package_manager_that_runs_one_is_followed(text: str, obs_type: str) -> None:
    assert parse(text).obs_type == obs_type


@pytest.mark.parametrize("text", ["npm " * 2000, "pnpm yarn " * 600, "bun -s " * 900])
def test_package_managers_that_run_one_another_are_followed_no_deeper_than_that(text: str) -> None:
    assert parse(text).obs_type == "command"
