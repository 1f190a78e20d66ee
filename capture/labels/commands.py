"""What a shell command amounts to, from the first words of its steps: cheap enough for every row of a history.

`capture.shell` reads a command properly and gives a row its type. This is a second look at rows that have one: which
programs run, with which subcommands, what that does to the project, and whether it reaches outside the machine.
"""

from __future__ import annotations

HEAD, TAIL = 800, 400
"""Characters of a command that are read: what it begins with, and what follows a long text inside it."""
_STEPS = 14
_KEPT = 4_096
_WRAPPERS = frozenset(
    "sudo time timeout nice env command exec nohup rtk npx bunx uvx pipx xargs watch doppler direnv then do else ! {"
    " ( if while until elif stdbuf setsid ionice unbuffer chronic winpty proxy".split()
)
_RUNNERS = frozenset(
    ("uv run", "poetry run", "pipenv run", "pdm run", "hatch run", "rye run", "bundle exec", "pnpm exec", "npm exec",
     "yarn exec", "pnpm dlx", "yarn dlx", "mise exec", "conda run", "pixi run", "nix develop", "dotenv --")
)  # fmt: skip
_SKIPPED = frozenset("cd pushd popd set export source . true : sleep wait echo printf unset read local for done fi esac case"
                     " } ) [ [[ test exit continue break function seq Set-Location Write-Host Write-Output ForEach-Object"
                     " Where-Object foreach Start-Sleep shift trap Out-Null Group-Object Sort-Object".split())  # fmt: skip
_SEVERAL = frozenset(
    "esphome git gh glab npm pnpm yarn bun deno cargo go docker podman kubectl helm terraform tofu aws gcloud az fly flyctl"
    " vercel netlify heroku wrangler supabase firebase pip pip3 uv poetry pipenv pdm rye hatch conda gem bundle brew apt"
    " apt-get dnf yum apk pacman rustup dotnet mix composer flutter dart pod mvn gradle gradlew ./gradlew make just mise"
    " task nx turbo systemctl docker-compose rails rake php artisan swift bazel go-task choco winget scoop bd".split()
)
_OPTION_VALUES = frozenset(("-C", "-c", "--git-dir", "--work-tree", "-n", "--namespace", "--context", "--prefix",
                            "--filter", "-F", "-w", "--repo", "-R", "--cwd", "--dir"))  # fmt: skip
_JOINTS = ("&&", "||", ";", "$(", "<(", "`")
_FILTERS = frozenset("tail head grep egrep rg sed awk wc sort uniq cut tr jq tee less more cat column fold nl xargs strings"
                     " Select-Object Select-String Out-String Measure-Object findstr yq rev paste fmt".split())  # fmt: skip
LOCAL_HOSTS = ("localhost", "127.0.0.1", "0.0.0.0", "[::1]", "host.docker.internal")

_ROLES: dict[str, str] = {}
for _role, _names in (
    (
        "see",
        """git_status git_diff git_log git_show git_blame git_ls-files git_rev-parse git_describe git_reflog
    git_shortlog git_grep git_ls-tree git_merge-base git_cat-file git_check-ignore git_rev-list git_whatchanged
    git_name-rev git_for-each-ref git_symbolic-ref git_var git_help git_bisect
    gh_view gh_list gh_diff gh_status gh_checks gh_search ps df du which where whereis type uname
    env printenv top free lsof netstat ss file stat id whoami hostname date pwd nproc uptime history docker_ps
    docker_logs docker_inspect docker_images docker_stats docker_version docker_info kubectl_get kubectl_describe
    kubectl_logs kubectl_top systemctl_status journalctl npm_ls npm_list npm_why npm_outdated npm_view npm_audit
    pnpm_list pnpm_why pnpm_outdated yarn_why yarn_list pip_list pip_show pip_freeze pip3_list pip3_show uv_tree
    cargo_tree cargo_metadata go_env go_list go_version go_doc gem_list brew_list brew_info terraform_show
    terraform_plan terraform_output dmesg readelf objdump nm ldd otool Get-Process Get-Service Get-Command Test-Path
    tasklist bd_show bd_ready bd_list md5sum sha256sum diff cmp pgrep""",
    ),
    ("read", "cat head tail less more bat sed awk gawk jq yq wc xxd hexdump strings nl od Get-Content gc tac column"),
    (
        "search",
        "grep egrep fgrep rg ag ack find fd ls tree eza exa locate dir gci Get-ChildItem Select-String zgrep ast-grep",
    ),
    ("stage", "git_add git_stage git_rm git_mv"),
    ("commit", "git_commit"),
    ("push", "git_push"),
    ("sync", "git_pull git_fetch git_clone git_ls-remote git_submodule git_lfs"),
    (
        "branch",
        """git_checkout git_switch git_branch git_merge git_rebase git_reset git_restore git_stash git_tag
    git_cherry-pick git_revert git_worktree git_clean git_init git_apply git_am git_config git_remote git_update-index
    git_rebase git_format-patch git_notes git_filter-branch""",
    ),
    (
        "change",
        """mkdir mv cp rm rmdir touch ln chmod chown tee patch tar unzip zip gunzip gzip install dd truncate
    rsync New-Item Remove-Item Move-Item Copy-Item Set-Content Add-Content Out-File Rename-Item del copy move ren md
    rd xcopy robocopy bd_create bd_close bd_update bd_dep""",
    ),
    ("stop", "kill pkill killall Stop-Process taskkill docker_stop docker_rm docker_kill docker_down fuser"),
    (
        "script",
        "python python3 node ruby perl php deno tsx ts-node bun lua Rscript julia irb sqlite3 psql mysql redis-cli"
        " mongosh osascript java scala groovy elixir iex ghci swift go_run cargo_run dotnet_run dotnet_script",
    ),
    (
        "serve",
        """docker_up docker_run docker_start docker_restart docker_exec docker_build npm_start npm_dev
    pnpm_dev pnpm_start yarn_dev yarn_start bun_dev uvicorn gunicorn flask rails_server systemctl_start
    systemctl_restart vite next""",
    ),
):
    for _name in _names.split():
        _ROLES[_name.replace("_", " ")] = _role
_ROLES["go run"] = "script"

_REMOTE = frozenset(
    name.replace("_", " ")
    for name in """git_push git_pull git_fetch git_clone git_ls-remote gh glab hub ssh scp sftp rsync: telnet ping dig
    nslookup traceroute whois npm_install npm_i npm_ci npm_add npm_update npm_publish npm_view npm_info npm_audit
    npm_outdated npm_create npm_init npm_search npm_login npm_uninstall: npm_upgrade pnpm_install pnpm_i pnpm_add
    pnpm_update pnpm_up pnpm_publish pnpm_create pnpm_audit pnpm_outdated pnpm_dlx yarn_install yarn_add yarn_upgrade
    yarn_up yarn_create yarn_publish yarn_dlx bun_install bun_add bun_update bun_create bun_i pip_install pip_download
    pip3_install pip3_download pip_index uv_add uv_sync uv_lock uv_tool uv_pip uv_publish uv_python poetry_add
    poetry_install poetry_update poetry_lock poetry_publish pipenv_install pipenv_update pdm_add pdm_install
    pdm_update rye_sync rye_add conda_install conda_create conda_update cargo_install cargo_add cargo_update cargo_fetch
    cargo_search cargo_publish cargo_login cargo_binstall go_get go_install rustup_update rustup_install
    rustup_component rustup_target rustup_toolchain gem_install gem_update gem_push gem_search bundle_install
    bundle_update bundle_add brew_install brew_upgrade brew_update brew_search brew_tap apt_install apt_update
    apt_upgrade apt-get_install apt-get_update apt-get_upgrade dnf_install yum_install apk_add pacman_-S choco_install
    winget_install scoop_install docker_pull docker_push docker_login podman_pull podman_push kubectl helm terraform_init
    terraform_apply terraform_plan terraform_destroy tofu_init tofu_apply aws gcloud gsutil az fly flyctl vercel netlify
    heroku wrangler supabase firebase doctl railway eas serverless sls pulumi cdk ansible ansible-playbook
    dotnet_restore dotnet_add dotnet_nuget dotnet_tool mix_deps.get mix_hex.search mix_deps.update composer_require
    composer_install composer_update flutter_pub dart_pub pod_install twine playwright_install npm-check-updates ncu
    hf huggingface-cli nvm_install fnm_install mise_install asdf_install kaggle mosh rclone s3cmd certbot
    claude codex gemini cursor-agent aider arp dns-sd nc esphome_run esphome_logs esphome_upload
    fastlane corepack bd_sync jj_git gt_submit gt_sync dolt_push dolt_pull git-lfs git_svn git_remote:
    create-next-app create-vite create-react-app degit skaffold argocd ngrok cloudflared""".split()
    if not name.endswith(":")
)
_NETWORKED = frozenset("push pull sync deploy publish login upload".split())
"""What an unlisted program is told to do, when it talks to a server."""
_HERE = ("lint", "template", "unittest", "--syntax-check", "--offline", "--context kind", "kind-", "minikube", "--dry-run=client")
"""Words behind which a program that usually reaches out stays here."""
_FETCHERS = frozenset("curl wget http https httpie xh grpcurl websocat aria2c iwr irm Invoke-WebRequest Invoke-RestMethod"
                      .split())  # fmt: skip


class Shell:
    """A command's steps: programs with their subcommands, what each does, and whether any leaves the machine."""

    __slots__ = ("heads", "marks", "remote", "roles")

    def __init__(self, heads: tuple[str, ...], roles: tuple[str, ...], remote: bool, marks: tuple[str, ...]) -> None:
        self.heads = heads
        self.roles = roles
        self.remote = remote
        self.marks = marks
        """What else is to be seen: heredoc, inline, redirect, loop, long, chain, tmp, version, dry."""


_known: dict[str, Shell] = {}


def clipped(text: str) -> str:
    """The head and the tail of a long text."""
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"


def look(command: str) -> Shell:
    """A command's steps; texts met before are not read again."""
    text = clipped(command)
    found = _known.get(text)
    if found is None:
        if len(_known) >= _KEPT:
            _known.clear()
        found = _known[text] = _look(text)
    return found


def _look(text: str) -> Shell:
    inner = _script(text)
    if inner:
        text = inner
    heads: list[str] = []
    roles: list[str] = []
    remote = odd = False
    bare = _bare(text)
    for step in bare.split("\n")[:_STEPS]:
        piped = step[:1] == "|"
        words = _unwrapped(step.lstrip("( \t{|").split())
        if not words or words[0] in _SKIPPED or (piped and words[0] in _FILTERS and heads):
            continue
        head, sub = _head(words)
        name = f"{head} {sub}" if sub else head
        if name in heads:
            continue
        heads.append(name)
        role = _role_of(head, sub, words)
        roles.append(role)
        odd = odd or (role == "run" and head not in _SEVERAL)
        remote = remote or _leaves(head, name, words, text)
    marks = _marks(text, bare)
    if odd:
        marks.append("odd")
    return Shell(tuple(heads), tuple(roles), remote, tuple(marks))


def _script(text: str) -> str:
    """What `bash -lc '...'` is told to run."""
    words = text[:40].split(None, 2)
    if len(words) < 3 or words[1] not in ("-c", "-lc", "-ic", "-Command", "/c"):
        return ""
    name = words[0].rpartition("/")[2]
    if name not in ("bash", "sh", "zsh", "pwsh", "powershell", "cmd"):
        return ""
    rest = text.split(None, 2)[2].strip()
    return rest[1:].rstrip(rest[0]) if rest[:1] in ("'", '"') else rest


def _bare(text: str) -> str:
    """One step a line, without what is quoted and without heredocs."""
    if "<<" in text:
        text = _without_heredocs(text)
    if "#" in text:
        text = "\n".join(line for line in text.split("\n") if line.lstrip()[:1] != "#")
    text = text.replace('\\"', " ").replace("\\\n", " ")
    if '"' in text:
        parts = text.split('"')
        text = " Q ".join(parts[::2])
        if "$(" in "".join(parts[1::2]):
            asked = [part.partition("$(")[2] for part in parts[1::2] if "$(" in part]
            text += "\n" + "\n".join(one for one in asked if one[:3] != "cat")
    if "'" in text:
        text = " Q ".join(text.split("'")[::2])
    text = text.replace("2>&1", "").replace("&>", ">")
    for mark in _JOINTS:
        if mark in text:
            text = text.replace(mark, "\n")
    return text.replace("|", "\n|").replace(" & ", "\n").replace(" (", " ")


def _without_heredocs(text: str) -> str:
    """The command without the texts that stand in it; one that is not closed takes all that follows."""
    at = text.find("<<")
    while at >= 0:
        word = text[at + 2 : at + 40].lstrip("<-~ ").split(None, 1)
        mark = word[0].strip("\"'\\);|&") if word else ""
        line = text.find("\n", at)
        if line < 0:
            break
        if not mark or text[at + 2 : at + 3] == "<":
            at = text.find("<<", at + 3)
            continue
        end = text.find("\n" + mark, line)
        after = text[end + len(mark) + 1 :] if end >= 0 else ""
        rest = text[at + 2 + text[at + 2 : line].find(mark) + len(mark) : line].lstrip("\"'")
        text = f"{text[:at]} {rest}\n{after}"
        at = text.find("<<", at)
    return text


def _unwrapped(words: list[str]) -> list[str]:
    """The words of a step from its program on."""
    at, end = 0, len(words)
    while at < end:
        word = words[at]
        if word in _WRAPPERS:
            at += 1
            while at < end and (words[at][0] == "-" or words[at][0].isdigit()):
                at += 1
        elif "=" in word and not word.startswith(("-", "=")) and word.partition("=")[0].isidentifier():
            at += 1
        elif at + 1 < end and f"{word} {words[at + 1]}" in _RUNNERS:
            at += 2
            while at < end and words[at][0] == "-":
                at += 2 if words[at] in ("--with", "--extra", "--group", "--python", "-p") else 1
        else:
            break
    return words[at:]


def _head(words: list[str]) -> tuple[str, str]:
    """The program and, of one that does several kinds of work, its subcommand."""
    head = words[0].replace("\\", "/").rpartition("/")[2].removesuffix(".exe") or words[0]
    if head in ("python", "python3", "py") and words[1:2] == ["-m"] and len(words) > 2:
        head, words = words[2], words[2:]
    if head not in _SEVERAL:
        return head[:24], ""
    at = 1
    while at < len(words) and words[at][:1] == "-":
        at += 2 if words[at] in _OPTION_VALUES else 1
    sub = words[at] if at < len(words) else ""
    if head in ("gh", "glab") and at + 1 < len(words) and words[at + 1][:1] != "-" and sub != "api":
        sub = words[at + 1]
    elif sub in ("run", "compose", "exec", "container", "image", "x") and head not in ("cargo", "go", "gh"):
        rest = [word for word in words[at + 1 :] if word[:1] != "-"]
        if sub != "exec" and rest and not (head == "docker" and sub == "run"):
            sub = rest[0]
    return head, sub[:20]


def _role_of(head: str, sub: str, words: list[str]) -> str:
    role = _ROLES.get(f"{head} {sub}" if sub else head, "")
    if not role and (head not in _SEVERAL or not sub or "." in sub or "/" in sub):
        role = _ROLES.get(head, "")
    if role == "read" and head == "sed" and any(word.startswith(("-i", "--in-place")) for word in words):
        return "change"
    if role == "branch" and len(words) > 2:
        rest = words[words.index(sub) + 1 :] if sub in words else []
        shows = sub in ("stash", "worktree", "remote", "config") and rest[:1] in (["list"], ["-v"], ["show"], ["get-url"],
                                                                                   ["--get"], ["--list"])  # fmt: skip
        if shows or (
            sub in ("branch", "tag") and all(word[:1] == "-" and word not in ("-d", "-D", "-m") for word in rest)
        ):
            return "see"
    if role == "branch" and sub in ("branch", "tag", "remote", "stash") and words[-1] == sub:
        return "branch" if sub == "stash" else "see"
    if role == "script" and words[1:2] in (["--version"], ["-V"], ["-v"]):
        return "see"
    return role or ("see" if words[-1] in ("--version", "--help", "-h", "version", "-V") else "run")


def _leaves(head: str, name: str, words: list[str], text: str) -> bool:
    if head in _FETCHERS:
        return not any(host in text for host in LOCAL_HOSTS)
    if head in ("rsync",):
        return any(":" in word for word in words[1:])
    if head == "go" and "mod" in words:
        return "download" in words or "tidy" in words
    if len(words) > 1 and (words[1] in _NETWORKED if head not in _SEVERAL else "deploy" in name or "publish" in name):
        return head not in _ROLES
    if name == "git remote":
        return "update" in words or "show" in words or "prune" in words
    if name not in _REMOTE and head not in _REMOTE:
        return False
    if head in ("helm", "kubectl", "ansible-playbook", "npm", "twine") and any(word in text for word in _HERE):
        return False
    return not (name == "git submodule" and "status" in words) and not (name == "npm init" and "-y" in words)


def _marks(text: str, bare: str) -> list[str]:
    found = []
    if "<<" in text:
        found.append("heredoc")
    if " -c " in text or " -e " in text:
        found.append("inline")
    if any(mark in bare and "/dev/null" not in bare.partition(mark)[2][:12] for mark in (" > ", " >> ")):
        found.append("redirect")
    if "\ndo" in bare or " do " in bare:
        found.append("loop")
    if len(text) > 180:
        found.append("long")
    if "://" in text and not any(host in text for host in LOCAL_HOSTS):
        found.append("url")
    if "\n|" in bare:
        found.append("piped")
    if bare.count("\n") - bare.count("\n|") > 3:
        found.append("chain")
    if "/tmp/" in text:
        found.append("tmp")
    if "--version" in text or "--help" in text:
        found.append("version")
    if "uvx " in text or "npx -y" in text or "npx --yes" in text or "@latest" in text or " dlx " in text:
        found.append("fetched")
    if "--fix" in text or "--write" in text:
        found.append("fix")
    return found
