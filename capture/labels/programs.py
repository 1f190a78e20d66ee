"""Programs and what they do, as data. An underscore stands between a program and its subcommand."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def commands(text: str) -> frozenset[str]:
    """The words of a text as programs with their subcommands."""
    return frozenset(word.replace("_", " ") for word in text.split())


WRAPPERS = words("""
    ! ( bunx chronic command direnv do doppler elif else env exec if ionice nice nohup npx pipx proxy rtk setsid
    stdbuf sudo then time timeout unbuffer until uvx watch while winpty xargs {
""")
"""Words before the program that is meant."""
RUNNERS = commands("""
    bundle_exec conda_run dotenv_-- hatch_run mise_exec nix_develop npm_exec pdm_run pipenv_run pixi_run pnpm_dlx
    pnpm_exec poetry_run rye_run uv_run yarn_dlx yarn_exec
""")
"""The same, of two words."""
SKIPPED = words("""
    ) . : ForEach-Object Group-Object Out-Null Set-Location Sort-Object Start-Sleep Where-Object Write-Host
    Write-Output [ [[ break case cd continue done echo esac exit export fi for foreach function local popd printf
    pushd read seq set shift sleep source test trap true unset wait }
""")
"""Steps that say nothing."""
FILTERS = words("""
    Measure-Object Out-String Select-Object Select-String awk cat column cut egrep findstr fmt fold grep head jq
    less more nl paste rev rg sed sort strings tail tee tr uniq wc xargs yq
""")
"""What stands behind a pipe and only shortens."""
SEVERAL = words("""
    ./gradlew apk apt apt-get artisan aws az bazel bd brew bun bundle cargo choco composer conda dart deno dnf
    docker docker-compose dotnet esphome firebase flutter fly flyctl gcloud gem gh git glab go go-task gradle
    gradlew hatch helm heroku just kubectl make mise mix mvn netlify npm nx pacman pdm php pip pip3 pipenv pnpm
    pod podman poetry rails rake rustup rye scoop supabase swift systemctl task terraform tofu turbo uv vercel
    winget wrangler yarn yum
""")
"""Programs that do several kinds of work: the subcommand says which."""
FETCHERS = words("""
    Invoke-RestMethod Invoke-WebRequest aria2c curl grpcurl http httpie https irm iwr websocat wget xh
""")
NETWORKED = words("""
    deploy login publish pull push sync upload
""")
"""What a program that is not listed is told to do, when it talks to a server."""
REMOTE = commands("""
    aider ansible ansible-playbook apk_add apt-get_install apt-get_update apt-get_upgrade apt_install apt_update
    apt_upgrade argocd arp asdf_install aws az bd_sync brew_install brew_search brew_tap brew_update brew_upgrade
    bun_add bun_create bun_i bun_install bun_update bundle_add bundle_install bundle_update cargo_add
    cargo_binstall cargo_fetch cargo_install cargo_login cargo_publish cargo_search cargo_update cdk certbot
    choco_install claude cloudflared codex composer_install composer_require composer_update conda_create
    conda_install conda_update corepack create-next-app create-react-app create-vite cursor-agent dart_pub degit
    dig dnf_install dns-sd docker_login docker_pull docker_push doctl dolt_pull dolt_push dotnet_add dotnet_nuget
    dotnet_restore dotnet_tool eas esphome_logs esphome_run esphome_upload fastlane firebase flutter_pub fly
    flyctl fnm_install gcloud gem_install gem_push gem_search gem_update gemini gh git-lfs git_clone git_fetch
    git_ls-remote git_pull git_push git_svn glab go_get go_install gsutil gt_submit gt_sync helm heroku hf hub
    huggingface-cli jj_git kaggle kubectl mise_install mix_deps.get mix_deps.update mix_hex.search mosh nc ncu
    netlify ngrok npm-check-updates npm_add npm_audit npm_ci npm_create npm_i npm_info npm_init npm_install
    npm_login npm_outdated npm_publish npm_search npm_update npm_upgrade npm_view nslookup nvm_install pacman_-S
    pdm_add pdm_install pdm_update ping pip3_download pip3_install pip_download pip_index pip_install
    pipenv_install pipenv_update playwright_install pnpm_add pnpm_audit pnpm_create pnpm_dlx pnpm_i pnpm_install
    pnpm_outdated pnpm_publish pnpm_up pnpm_update pod_install podman_pull podman_push poetry_add poetry_install
    poetry_lock poetry_publish poetry_update pulumi railway rclone rustup_component rustup_install rustup_target
    rustup_toolchain rustup_update rye_add rye_sync s3cmd scoop_install scp serverless sftp skaffold sls ssh
    supabase telnet terraform_apply terraform_destroy terraform_init terraform_plan tofu_apply tofu_init
    traceroute twine uv_add uv_lock uv_pip uv_publish uv_python uv_sync uv_tool vercel whois winget_install
    wrangler yarn_add yarn_create yarn_dlx yarn_install yarn_publish yarn_up yarn_upgrade yum_install
""")
"""What reaches outside the machine."""
ROLES = {
    name.replace("_", " "): role
    for role, names in {
        "see": """
        git_status git_diff git_log git_show git_blame git_ls-files git_rev-parse git_describe git_reflog
        git_shortlog git_grep git_ls-tree git_merge-base git_cat-file git_check-ignore git_rev-list
        git_whatchanged git_name-rev git_for-each-ref git_symbolic-ref git_var git_help git_bisect gh_view
        gh_list gh_diff gh_status gh_checks gh_search ps df du which where whereis type uname env printenv top
        free lsof netstat ss file stat id whoami hostname date pwd nproc uptime history docker_ps docker_logs
        docker_inspect docker_images docker_stats docker_version docker_info kubectl_get kubectl_describe
        kubectl_logs kubectl_top systemctl_status journalctl npm_ls npm_list npm_why npm_outdated npm_view
        npm_audit pnpm_list pnpm_why pnpm_outdated yarn_why yarn_list pip_list pip_show pip_freeze pip3_list
        pip3_show uv_tree cargo_tree cargo_metadata go_env go_list go_version go_doc gem_list brew_list
        brew_info terraform_show terraform_plan terraform_output dmesg readelf objdump nm ldd otool Get-Process
        Get-Service Get-Command Test-Path tasklist bd_show bd_ready bd_list md5sum sha256sum diff cmp pgrep
        """,
        "read": """
        cat head tail less more bat sed awk gawk jq yq wc xxd hexdump strings nl od Get-Content gc tac column
        """,
        "search": """
        grep egrep fgrep rg ag ack find fd ls tree eza exa locate dir gci Get-ChildItem Select-String zgrep
        ast-grep
        """,
        "stage": """
        git_add git_stage git_rm git_mv
        """,
        "commit": """
        git_commit
        """,
        "push": """
        git_push
        """,
        "sync": """
        git_pull git_fetch git_clone git_ls-remote git_submodule git_lfs
        """,
        "branch": """
        git_checkout git_switch git_branch git_merge git_rebase git_reset git_restore git_stash git_tag
        git_cherry-pick git_revert git_worktree git_clean git_init git_apply git_am git_config git_remote
        git_update-index git_format-patch git_notes git_filter-branch
        """,
        "change": """
        mkdir mv cp rm rmdir touch ln chmod chown tee patch tar unzip zip gunzip gzip install dd truncate rsync
        New-Item Remove-Item Move-Item Copy-Item Set-Content Add-Content Out-File Rename-Item del copy move ren
        md rd xcopy robocopy bd_create bd_close bd_update bd_dep
        """,
        "stop": """
        kill pkill killall Stop-Process taskkill docker_stop docker_rm docker_kill docker_down fuser
        """,
        "script": """
        python python3 node ruby perl php deno tsx ts-node bun lua Rscript julia irb sqlite3 psql mysql
        redis-cli mongosh osascript java scala groovy elixir iex ghci swift go_run cargo_run dotnet_run
        dotnet_script
        """,
        "serve": """
        docker_up docker_run docker_start docker_restart docker_exec docker_build npm_start npm_dev pnpm_dev
        pnpm_start yarn_dev yarn_start bun_dev uvicorn gunicorn flask rails_server systemctl_start
        systemctl_restart vite next
        """,
    }.items()
    for name in names.split()
}
"""What a step of a command line does, in one word."""
