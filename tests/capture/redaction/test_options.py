"""Passwords given to commands, however weak: each tool has its own way, and the same letters mean other things to others."""

# ruff: noqa: E501 - lists of samples

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from capture.redaction import detectors, find, redact

GIVEN = """
mysql -u root -p{} shop | mysql -uroot -p{} | mysqldump -u root -p{} shop > a.sql | mysqlcheck -u root -p{} | mysqlsh -u root -p{}
mysql -u root --password={} shop | mysqladmin -u root password {} | docker exec db mysql -uroot -p{} -e 'select 1'
docker compose exec db mysql -u root -p{} shop | kubectl exec -it p -- mysql -u root -p{} | ssh h "mysql -u root -p{} shop < a.sql"
mariadb -u root -p{} shop | mycli -u root -p {} shop
curl -u alice:{} https://host/api | curl --user alice:{} https://host/api | curl --user=alice:{} https://host | curl -ualice:{} https://h
curl -su alice:{} https://host/api | curl -sSu 'alice:{}' https://host | curl https://host/?a=b -u "alice:{}" | curl -u a:{}
curl --proxy-user me:{} https://host/ | curl -U me:{} https://host/ | curl -d 'user=me&password={}' https://host/
curl --data-urlencode password={} https://host | http POST host password={} | docker run -it img curl -u alice:{} host
wget --user=alice --password={} https://host/ | wget --http-password={} https://host/ | wget --ftp-password={} https://host/
sshpass -p {} ssh root@host | sshpass -p{} ssh root@host | sshpass -p '{}' ssh -p 2222 root@host | sshpass -v -p "{}" scp a h:b
PGPASSWORD={} psql -h db | export PGPASSWORD={} | MYSQL_PWD={} mysql | psql "host=h user=x password={} dbname=y"
docker login -u me -p {} | docker login -u me -p {} registry.host | docker login -u me --password {} | podman login -u me -p {} q.io
buildah login -u me -p {} q.io | skopeo login -u me -p {} q.io | helm registry login -u me -p {} q.io | nerdctl login -p {}
skopeo copy --src-creds me:{} docker://a docker://b | skopeo copy --dest-creds=me:{} docker://a b | oc login -u dev -p {} https://host
redis-cli -a {} ping | redis-cli -h host -p 6379 -a {} | redis-cli --pass {} | redis-cli AUTH {} | redis-cli CONFIG SET requirepass {}
ldapsearch -x -D cn=admin -w {} -b dc=x | ldapmodify -x -D cn=admin -w {} -f x | ldapwhoami -H ldap://h -p 1389 -w {}
ldappasswd -x -D cn=admin -s {} uid=x | kadmin -p admin -w {}
mongosh -u x -p {} | mongo -u x -p{} | mongodump --port 27017 -u x -p {} | mongosh mongodb://h -u x --password {}
smbclient -U user%{} //h/s | smbclient //h/s -U 'user%{}' | rpcclient -U user%{} h | winexe -U me%{} //h cmd
htpasswd -b .htpasswd bob {} | htpasswd -nb bob {} | htpasswd -bnBC 10 bob {} | htpasswd -cb .ht bob {} | mosquitto_passwd -b f me {}
openssl rsa -in a -passin pass:{} | openssl req -passout pass:{} | openssl enc -aes-256-cbc -k {} -in a | openssl passwd -6 {}
openssl passwd -1 -salt ab {} | keytool -list -storepass {} | keytool -import -srcstorepass {} | jarsigner -storepass {} a.jar
7z a -p{} x.7z f | 7za x -p{} x.7z | 7zz x -p'{}' x.7z | rar a -hp{} x.rar f | unrar x -p{} x.rar
zip -P {} x.zip f | zip -r -P '{}' x.zip f | unzip -P {} x.zip | unzip -o -P{} x.zip
qpdf --password={} --decrypt a b | gpg --batch --passphrase {} -c f | gpg --batch --passphrase={} -c f
twine upload -u me -p {} dist/* | twine upload --password {} dist/* | poetry publish -u me -p {} | poetry config http-basic.foo me {}
composer config http-basic.host.org me {} | npm login --password={} | svn co --password {} u | hg clone --config auth.x.password={} u
ansible-playbook -e ansible_password={} a.yml | ansible all -e "ansible_become_pass={}" -m ping | terraform apply -var db_password={}
tofu plan -var="db_password={}" | vault kv put secret/x password={} | vault login -method=userpass username=me password={}
helm install x ./c --set auth.password={} | mount -t cifs -o username=x,password={} //h/s /m | kcat -X sasl.password={}
mvn sonar:sonar -Dsonar.password={} | java -Djavax.net.ssl.keyStorePassword={} -jar a | flyway -user=me -password={} migrate
sqlcmd -S h -U sa -P {} | sqlcmd -S h -U sa -P{} | bcp t out f -S h -U sa -P {} | sqlplus scott/{}@orcl | sqlplus -s scott/{}
cqlsh -u me -p {} h | cypher-shell -u neo4j -p {} | neo4j-admin set-initial-password {} | influx -username u -password {}
rabbitmqctl add_user me {} | rabbitmqctl change_password me {} | rabbitmqadmin -u me -p {} list | mosquitto_pub -u me -P {} -t x
snmpwalk -v3 -u x -A {} h | snmpget -v3 -u x -X {} h | ipmitool -H h -U root -P {} power on | lftp -u me,{} ftp://h
plink -pw {} me@h | pscp -pw {} a me@h:b | psexec \\\\h -u me -p {} cmd | evil-winrm -i h -u me -p {} | rdesktop -u me -p {} h
http -a me:{} GET h | xh -a me:{} h | httpie --auth me:{} h | ab -A me:{} https://h/ | ttyd -c me:{} bash | ngrok http --basic-auth me:{} 80
security add-generic-password -a me -s x -w {} | security unlock-keychain -p {} k | security import c.p12 -P {}
ssh-keygen -t ed25519 -N {} -f k | curl --cert client.p12:{} --cert-type P12 https://h | pdftotext -upw {} in.pdf - | signtool sign /f c.pfx /p {} a.exe
swaks -t a@b.c -a LOGIN -au bob -ap {} | impdp scott/{}@orcl directory=dp | mysqlsh root:{}@localhost:3306 --sql | impacket-psexec corp/bob:{}@10.0.0.7
rclone obscure {} | net ads join -U Administrator%{} | slappasswd -s {} | x11vnc -passwd {} -display :0
mc alias set m http://h:9000 me {} | bw unlock {} | bw login me@example.org {} | yt-dlp -u me -p {} u | kubectl create secret docker-registry x --docker-password={}
kubectl config set-credentials me --username=me --password={} | gcloud sql users set-password me --password={} | wp config create --dbpass={}
"""
FORMS = [
    *(form.strip() for line in GIVEN.split("\n") for form in line.split(" | ") if form.strip()),
    "mysql \\\n  -u root \\\n  -p{} \\\n  shop", "echo {} | kinit me", "keytool -srcstorepass x -deststorepass {}",
]  # fmt: skip
WEAK = ["hunter2", "Sommer24!", "k4tze99", "p4ssw0rd", "dragon7"]
GAPS = ["$PASS", "${PASS}", '"$PASS"', "$(cat pw)", "<password>", "%PASS%", "{{ pw }}", "xxxxxxxx", "$1"]

STAYS = """
ssh-keygen -t ed25519 -N '' -f k\nssh-keygen -p -f id_rsa\ncurl --cert client.pem --key client.key https://h\npdftotext -f 1 in.pdf -
mysqlsh root@localhost:3306 --sql\nimpacket-secretsdump -h\nnet ads info -U admin\ndotnet nuget push a.nupkg --source https://h\nsendemail -f a@b.c
mkdir -p foo/bar12\ncp -p a1234 b1234\nssh -p 2222 root@host\nssh -p2222 root@host\ntar -p -xf a1234.tar\ntar -xpf a.tar -p
docker run -p 8080:80 nginx\ndocker run -p 127.0.0.1:8080:80 nginx\ndocker run --name mysql -p 3306:3306 mysql:8
docker run --name mysql -p3306:3306 mysql:8\ndocker run --name mongo -p 27017:27017 mongo\ndocker run -d mongo -p 27017:27017
docker run -u node:node img\ndocker run -u app:staff img\ndocker exec --user postgres:postgres db psql\nsudo -u user:group ls
curl -u $USER:$PASS https://h\ncurl -u "$USER:$PASS" https://h\ncurl -u alice:$PASS https://h\ncurl -u "alice:$(cat pw)" https://h
curl -d "user=x&password=$PASS" h\ncurl -d 'grant_type=password&username=x' h\ncurl -A Mozilla1234 h\ncurl -c jar1:foo h\ncurl -k https://host12
git push -u origin main\ngit push -u origin main:main\npython -u x:y\npython -u x:yab\npython3 -u -m a:main
redis-cli -p 6379 ping\nredis-cli -h localhost -p 6379\nldapsearch -x -h host -p 1389 -b dc=x\nldapsearch -x -W -D cn=admin -b dc=x
psql -p 5432 -U postgres\npg_dump -p 5433 -U x db\nmysql -u root -p shop12\nmysql -u root -p\nmysql -P 3306 -u root -p shop
mysql -uroot -p$MYSQL_PASS shop\nmysql -uroot -p"$MYSQL_PASS" shop\nmysql --protocol=tcp -u root\nfind . -name mysql -print
sshpass -e ssh -p 2222 root@host\nsshpass -f /root/pw ssh -p 2222 root@host\nsshpass -p $PW ssh -p 2222 host
docker login -u me --password-stdin\ndocker login -u <user> -p <password>\ndocker login -u USERNAME -p PASSWORD
zip -r out.zip src && mkdir -p build1/x\nunzip -p a.zip META-INF/MANIFEST1.MF\n7z a out.7z src -mx9\n7z x -p out12.7z\ngzip -Path1 file
wget -P /tmp/downloads1 https://h\nwget --password=PASSWORD https://h\nwget --password=<password> https://h\nxargs -P4 mysql
snmpwalk -v2c -c public host\nab -n 1000 -c 10 http://host/\nopenssl enc -d -pass env:PW\nopenssl rsa -passin file:pw1234\nopenssl passwd -6
keytool -storepass changeit\nhtpasswd -c .ht joe\ngh auth login -p https -h github.com\nuseradd -m -s /bin/bash -p "$HASH" me
vault kv put secret/x password=$PW\nvault kv get -field=password secret/x\nterraform apply -var db_password=$TF_PW\nterraform plan -var-file=prod1.tfvars
kinit -kt /etc/krb5.keytab me\nbw unlock --raw\nbw unlock --passwordenv BW_PASSWORD2\nsqlplus / as sysdba\nsqlplus -s /nolog1
mongosh -u me -p --authenticationDatabase admin\nmongosh --port 27017 -u me -p\nhydra -l me -P words1.txt ssh://h\nyt-dlp -P ~/Videos1 https://y
nmap -p 22,80,443 host\nflask run -p 5001\nlsof -p 12345\npytest -p no:cacheprovider\ncargo build -p mysql-client1\nread -p "password: " x
rsync -aP mysql1 b\nssh h mysql -P 3307\nconst x = {{ password: password1 }}\nx.connect(password=user2)\n--password must be given\n--password=value
git commit -m "mysql -p asks for the password2"\n`ldapsearch -w` leaks2much\n.IX Item "--use-askpass=command2"
mysql: [Warning] Using a password on the command line interface can be insecure2.
""".strip().replace("{{", "{").replace("}}", "}").split("\n")  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_weak_password_goes_and_its_command_stays(form: str) -> None:
    for password in WEAK:
        text = form.replace("{}", password)
        before, _, after = text.partition(password)
        out = redact(text)
        assert password not in out
        assert out.startswith(before.removesuffix("me:"))  # of credentials, both may go
        assert out.endswith(after)
        assert redact(out) == out
        assert password not in redact(f"$ cd /srv && {text}\nExit code 1\n")


@pytest.mark.parametrize("text", STAYS)
def test_what_only_looks_alike_stays(text: str) -> None:
    assert redact(text) == text


@given(form=st.sampled_from(FORMS), gap=st.sampled_from(GAPS))
@settings(max_examples=300, deadline=None)
def test_a_variable_or_a_placeholder_stays(form: str, gap: str) -> None:
    text = form.replace("'{}'", "{}").replace('"{}"', "{}").replace("{}", gap)
    assert redact(text) == text


ROWS = [(option, how, tool) for option, rows in detectors.OPTIONS for how, tools in rows for tool in tools]


@given(row=st.sampled_from(ROWS), password=st.from_regex(r"(hunter|drache|katze|liverpool)[1-9]{1,3}[!@#^]{0,2}", fullmatch=True),
       before=st.sampled_from(["", "sudo ", "cd /srv && ", "$ ", "/usr/bin/", "echo hi | ", "FOO=1 "]),
       quote=st.sampled_from(["", "'", '"']), between=st.sampled_from(["", " -v", " --x=1 'a | b; c'", " \\\n "]))  # fmt: skip
@settings(max_examples=400, deadline=None)
@example((" --creds", ":", "skopeo "), "katze111", "", "'", "")
def test_every_row_of_the_table_holds(
    row: tuple[str, str, str], password: str, before: str, quote: str, between: str
) -> None:
    option, how, tool = row
    user = "joe" + how if how in (":", "%", ",") else ""
    gap = "" if how == detectors.GLUED or option.endswith(" ") else " "
    command = f"{tool.rstrip()}{between}{option}{gap}{quote}{user}"
    out = redact(f"{before}{command}{password}{quote} last")
    assert password not in out
    assert out.startswith(before + command.removesuffix(user))
    assert out.endswith(f"[REDACTED:password]{quote} last")


@given(st.lists(st.sampled_from([*(tool for _, _, tool in ROWS), *(option for option, _, _ in ROWS), "$X", "'", '"', "a:b2c4",
                                 "hunter2", " | ", "\n", "\\", "x", "password=", "--password=x1y2"]), max_size=25).map("".join))  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_any_mix_of_them_is_read_once_and_for_all(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


UNITS = [*(f"{tool.rstrip()} x{option} " for option, _, tool in ROWS[:: len(ROWS) // 12]), "mysql -p", "mysql ", "curl -u a:", "mysql '",
         'sshpass -p "', "mysql \\\n", "sqlplus a/", "bw unlock ", "curl password=a1 ", "--password=", "openssl passwd -1 ", "docker -u a:b "]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_a_long_text_of_them_costs_its_length(unit: str, linear: Callable[..., None]) -> None:
    linear(find, unit)
