"""Commands keep what they do, and lose what changes from run to run; those that only look are none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmem.learn import commands


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("pytest tests/test_cart.py -q 2>&1 | tail -30", "pytest tests/test_cart.py"),
        ("cd /src/shop && pytest tests/test_cart.py", "pytest tests/test_cart.py"),
        ("CI=1 NODE_ENV=test npm run build > /tmp/out.txt", "npm run build"),
        ("timeout 60 npm test", "npm test"),
        ("time env A=b cargo test --release", "cargo test"),
        ("sudo make install", "sudo make install"),
        ("rtk bun run test 2>&1", "rtk bun run test"),
        ("npx vitest run src/cart.test.ts", "npx vitest run src/cart.test.ts"),
        ("uv run ruff check src/shop", "uv run ruff check src/shop"),
        ("git push origin feature/a --force-with-lease", "git push"),
        ("git commit -m 'fix: it' && git push", "git commit && git push"),
        ("go test ./till/... -run TestA -count=1", "go test till/..."),
        ("go build ./...", "go build ./..."),
        ("mise run fmt && mise run lint && mise run test", "mise run fmt && mise run lint && mise run test"),
        ("python -m pytest tests", "python pytest tests"),
        ("python3 /src/shop/tools/seed.py --n 12", "python3 tools/seed.py"),
        ("./gradlew :app:test", "gradlew :app:test"),
        ("bash -c 'npm test'", "npm test"),
        ("docker compose up -d --build", "docker compose up"),
        ("make test PORT=8080", "make test"),
        ("npm test || true", "npm test"),
    ],
)
def test_what_stays_of_a_command(typed: str, key: str) -> None:
    found = commands.normalise(typed, "/src/shop")
    assert found is not None
    assert found.key == key


@pytest.mark.parametrize(
    "typed",
    [
        "which pnpm", "type node", "command -v docker", "ls -la src", "cat package.json", "grep -rn vat src | head",
        "rg basket", "test -f .env", "[ -d dist ] && echo yes", "curl -sf http://localhost:3000/health", "sleep 5",
        "tmux kill-session -t dev", "git status --short", "git diff HEAD~1 | head -50", "git log --oneline -5",
        "npm --version", "cargo --help", "gh pr view 12", "docker ps", "ps aux | grep node", "kill 4711",
        "find . -name x",
        "npm ls react", "pip show requests", "diff a b", "cd src", "echo hi", "mkdir -p out && rm -rf out/x",
        "python3 -c 'print(1)'", "node -e 'x()'", "python3 - <<'PY'\nprint(1)\nPY", "for f in a b; do wc -l $f; done",
        "",
        "sqlite3 shop.db 'select 1'", "lsof -i :3000", "git show HEAD:a.py", "sed -n 1,20p a.py", "jq . a.json",
        "kubectl get pods", "head -3 a && tail -3 b",
    ],
)  # fmt: skip
def test_what_only_looks_is_no_command(typed: str) -> None:
    assert commands.normalise(typed, "/src/shop") is None


def test_two_checkouts_and_folders_are_one_command() -> None:
    one = commands.normalise("cd /home/ana/shop && pytest /home/ana/shop/tests/a_test.py -x", "/home/ana/shop")
    other = commands.normalise("pytest tests/a_test.py --maxfail=3", "C:/work/shop")
    assert one is not None
    assert other is not None
    assert one.key == other.key


def test_parts_of_a_line_are_kept() -> None:
    found = commands.normalise("npm run lint && npm test")
    assert found is not None
    assert found.parts == ("npm run lint", "npm test")


@given(st.text(max_size=300))
@settings(max_examples=100, deadline=None)
def test_any_text_is_a_command_or_none(text: str) -> None:
    found = commands.normalise(text, "/src/shop")
    assert found is None or 0 < len(found.key) <= 2 * commands.LONGEST


@given(st.integers(1, 10_000), st.integers(1, 10_000))
def test_numbers_do_not_count(one: int, other: int) -> None:
    found = [commands.normalise(f"pytest tests/a.py -n {n} --seed={n} > /tmp/log{n}.txt 2>&1") for n in (one, other)]
    assert len({made.key for made in found if made}) == 1
