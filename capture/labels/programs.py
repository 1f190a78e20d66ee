"""Programs and subcommands by effect (see, change, push, serve ...) and network use, for the classifiers."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def commands(text: str) -> frozenset[str]:
    """The words of a text as programs with their subcommands."""
    return frozenset(word.replace("_", " ") for word in text.split())


WRAPPERS = words("""
    ! ( bunx chronic command direnv do doppler elif else env exec if ionice nice nohup npx proxy rtk setsid
    stdbuf sudo then time timeout unbuffer until uvx watch while winpty xargs {
""")
"""Words before the program that is meant."""
RUNNERS = commands("""
    bundle_exec conda_run dotenv_-- hatch_run mise_exec nix_develop npm_exec pdm_run pipenv_run pipx_run pixi_run
    pnpm_dlx pnpm_exec poetry_run rye_run uv_run yarn_dlx yarn_exec
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
    ./gradlew apk apt apt-get artisan asdf aws az bazel bd brew bun bundle cabal cargo carthage cdk changeset
    choco composer conan conda cpan dart deno dnf docker docker-compose dolt dotnet dvc eas esphome expo
    firebase flatpak flutter fly flyctl fnm gcloud gem gh git glab go go-task gradle gradlew gt hatch helm
    heroku hg hugo inv invoke jj just kubectl lerna luarocks make mas mise mix mkdocs multipass mvn ncu netlify
    nimble nix nox npm nuget nvm nx ollama opam pacman pdm php pip pip3 pipenv pipx playwright pnpm pod podman
    poe poetry port proto pyenv rails rake rbenv rustup rye sam scoop serverless sls snap stack supabase swift
    systemctl task terraform tofu turbo uv vagrant vcpkg vercel volta winget wrangler yarn yum zig zypper
""")
"""Programs that do several kinds of work: the subcommand says which."""
FETCHERS = words("""
    Invoke-RestMethod Invoke-WebRequest Start-BitsTransfer Test-NetConnection ab aria2c autocannon curl curlie grpcurl
    hey http httpie https irm iwr nc ncat ping ping6 socat telnet websocat wget wget2 wrk wscat xh
""")
"""These talk to the host that they are given."""
CLIENTS = words("""
    clickhouse-client cqlsh cypher-shell influx kcat mongo mongodump mongorestore mongosh mosquitto_pub
    mosquitto_sub mycli mysql mysqldump pg_dump pg_restore pgcli psql rdcli redis-cli sqlcmd usql
""")
"""The same; without one, to this machine."""
MODELS = words("""
    aichat aider amp claude codex copilot crush cursor-agent droid fabric gemini goose llm mods openai
    opencode qwen sgpt
""")
"""They ask a language model."""
LAUNCHERS = words("""
    bash bun deno fish node perl php poe powershell pwsh py python python3 ruby sh ts-node tsx zsh
""")
"""They run the script that they are given."""
NETWORKED = words("""
    deploy fetch login notify publish pull push sync upload
""")
"""What a program that is not listed is told to do, when it talks to a server."""
OUTWARD = words("""
    announce appstore crawl crawler deploy deployment download downloader email fetch mail newsletter notify
    playstore post publish publisher purge push release scrape scraper send ship slack submit sync telegram
    testflight tweet upload uploader webhook
""")
"""Words in the names of scripts and tasks that reach other people or machines."""
TAME = words("""
    build check config dry fake lint local localhost mock notes parse preview spec status test tests types
    validate verify version
""")
"""Words that take that back."""
AT_HOME = commands("""
    aws_configure cdk_synth docker_logout dotnet_publish eas_local firebase_emulators firebase_emulators:exec
    firebase_emulators:start firebase_init firebase_serve gcloud_config helm_lint helm_template heroku_local
    mix_release netlify_build netlify_dev npm_release-notes sam_build sam_local sam_validate serverless_offline
    sls_offline supabase_diff supabase_init supabase_new supabase_reset supabase_serve supabase_start
    supabase_status supabase_stop supabase_test vercel_build vercel_dev wrangler_dev wrangler_types
""")
"""What such programs do on this machine."""
REMOTE = commands("""
    acli amplify ansible ansible-playbook apk_add appcenter apprise apt-get_dist-upgrade apt-get_install
    apt-get_update apt-get_upgrade apt_dist-upgrade apt_full-upgrade apt_install apt_update apt_upgrade argocd
    arp arp-scan asdf_install atlas autossh avahi-browse aws aws-vault az b2 bd_sync bq brew_bundle brew_install
    brew_outdated brew_search brew_tap brew_update brew_upgrade buildkite-agent bun_add bun_create bun_i
    bun_install bun_outdated bun_publish bun_update bundle_add bundle_audit bundle_install bundle_outdated
    bundle_update cabal_install cabal_update cap capistrano cargo_add cargo_audit cargo_binstall cargo_deny
    cargo_fetch cargo_info cargo_install cargo_login cargo_outdated cargo_owner cargo_publish cargo_search
    cargo_update cargo_yank carthage_bootstrap carthage_update cdk certbot cf chalice changeset_publish
    choco_install circleci clasp cloudflared code-push composer_audit composer_global composer_install
    composer_outdated composer_require composer_update conan_create conan_install conda_create conda_install
    conda_search conda_update consul convex corepack cosign cpan_install cpanm crane create-next-app
    create-react-app create-vite crowdin ctr dart_pub databricks datadog-ci degit deno_add deno_install
    deno_publish deployctl dig dnf_install dnf_update dnf_upgrade dns-sd docker-compose_pull docker-compose_push
    docker_login docker_manifest docker_pull docker_push docker_search doctl dolt_pull dolt_push dotnet_add
    dotnet_nuget dotnet_restore dotnet_tool dotnet_workload drill dvc_pull dvc_push eas eb eksctl elinks emerge
    envoyer esphome_logs esphome_run esphome_upload etcdctl etherwake exo expo-cli expo_publish fastlane
    firebase flatpak_install flatpak_update flutter_pub flutter_upgrade flux fly flyctl fnm_install ftp
    gallery-dl gcloud gem_install gem_outdated gem_push gem_search gem_update gh gh-pages git-lfs git_clone
    git_fetch git_ls-remote git_pull git_push git_svn glab go_get go_install goreleaser gsutil gt_submit gt_sync
    guix ha hass-cli hatch_publish hcloud helm heroku hf hg_clone hg_incoming hg_outgoing hg_pull hg_push host
    hub huggingface-cli hugo_deploy ibmcloud iperf3 ipmitool istioctl jf jfrog jira jj_git jsr kaggle kamal kasa
    kn kops kubectl kubeseal lerna_publish lftp lgtv linear links linode-cli lokalise2 luarocks_install
    luarocks_upload lynx mail mailx mamba mas_install mas_upgrade mc micromamba miio mise_install mise_upgrade
    mise_use mix_archive.install mix_deps.get mix_deps.update mix_hex.audit mix_hex.publish mix_hex.search
    mix_hex.user mix_local.hex mkdocs_gh-deploy modal mosh msmtp mtr multipass_launch mutt mvn_deploy ncftp ncu
    neonctl netlify newrelic ngrok nimble_install nimble_refresh nix-channel nix_flake nmap nomad np
    npm-check-updates npm_access npm_add npm_audit npm_ci npm_create npm_deprecate npm_dist-tag npm_fund npm_i
    npm_info npm_init npm_install npm_login npm_org npm_outdated npm_owner npm_ping npm_publish npm_search
    npm_unpublish npm_update npm_upgrade npm_view npm_whoami nslookup ntfy nuget_install nuget_push
    nuget_restore nvm_install oc oci okta ollama_pull ollama_push opam_install opam_update opam_upgrade oras p4
    pacman_-S pacman_-Sy pacman_-Syu pacman_-Syy paru pd pdm_add pdm_install pdm_update pip3_download
    pip3_install pip_download pip_index pip_install pip_search pipenv_install pipenv_update pipx_inject
    pipx_install pipx_upgrade pipx_upgrade-all playwright_install pnpm_add pnpm_audit pnpm_create pnpm_dlx
    pnpm_fetch pnpm_i pnpm_info pnpm_install pnpm_outdated pnpm_publish pnpm_self-update pnpm_up pnpm_update
    pnpm_view pod_install podman_login podman_pull podman_push poetry_add poetry_install poetry_lock
    poetry_publish poetry_update port_install proto_install pscale pulumi pyenv_install railway rbenv_install
    rclone release-it replicate runpodctl rustup_component rustup_install rustup_target rustup_toolchain
    rustup_update rye_add rye_sync s3cmd sam saml2aws scoop_install scp scw semantic-release sendmail sentry-cli
    serverless sfdx sftp shopify skaffold skopeo sls smbclient snap_install snap_refresh snmpget snmpwalk snow
    snowsql snyk softwareupdate speedtest speedtest-cli spotdl ssh ssh-copy-id sshpass stack_install stack_setup
    stack_update stripe supabase surge svn swaks swift_package tailscale tea terraform_apply terraform_destroy
    terraform_init terraform_plan terragrunt tfx tofu_apply tofu_init traceroute transifex travis turso twilio
    twine tx uv_add uv_lock uv_pip uv_publish uv_python uv_sync uv_tool vagrant_box vapor vault vcpkg_install
    vercel volta_install vultr-cli w3m wakeonlan wandb weblate whois winget_install wol wrangler xbps-install
    yarn_add yarn_create yarn_dlx yarn_info yarn_install yarn_npm yarn_publish yarn_up yarn_upgrade yay
    youtube-dl yt-dlp yum_install yum_update zappa zig_fetch zypper_install zypper_refresh
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
