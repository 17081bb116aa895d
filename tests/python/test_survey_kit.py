"""The kit of a survey: complete, counterbalanced, and solved by solutions that are right."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty

from tests.interop.driving import free_port
from wirelab.cli import main
from wirelab.survey.kit import CODE_LENGTH, Kit
from wirelab.survey.questionnaire import questionnaire

HTTP_CLIENT = """
package main

import ("bytes"; "encoding/json"; "fmt"; "io"; "net/http")

func main() {
	reply, err := http.Get("http://127.0.0.1:8080/getNumber")
	if err != nil { panic(err) }
	var found struct { Number int `json:"number"` }
	if err := json.NewDecoder(reply.Body).Decode(&found); err != nil { panic(err) }
	found.Number *= 2
	body, _ := json.Marshal(found)
	const url = "http://127.0.0.1:8080/checkNumber"
	reply, err = http.Post(url, "application/json", bytes.NewBuffer(body))
	if err != nil { panic(err) }
	text, _ := io.ReadAll(reply.Body)
	fmt.Print(string(text))
}
"""
GRPC_CLIENT = """
	checker := protos.NewCheckerClient(connection)
	found, err := checker.GetNumber(context.Background(), &emptypb.Empty{})
	if err != nil { panic(err) }
	found.Number *= 2
	result, err := checker.CheckNumber(context.Background(), found)
	if err != nil { panic(err) }
	fmt.Println(result.Message)
}
"""
HTTP_ANSWER = 'w.Write([]byte(`{"id": 1969, "name": "Margaret Hamilton"}`))'
GRPC_ANSWER = 'return &protos.User{Id: 1969, Name: "Margaret Hamilton"}, nil'
START_S_MAX = 120
"""A first build of the kit's libraries takes that long at most."""

Run = Callable[[str], subprocess.Popen[bytes]]


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kit whose ports are free ones, so that whatever uses the study's does not matter."""
    if shutil.which("go") is None:
        pytest.skip("no go in PATH: the kit's checks are Go programs")
    folder = tmp_path_factory.mktemp("survey") / "kit"
    assert main(["survey", "init", str(folder), "--participants", "4"]) == 0
    ports = {named: str(free_port()) for named in ("8080", "7070", "9009")}
    for source in folder.glob("*/*.go"):
        text = source.read_text(encoding="utf-8")
        for named, free in ports.items():
            text = text.replace(f":{named}", f":{free}")
        source.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def run(kit: Path, no_orphans: None) -> Iterator[Run]:
    """Starts what `go run FILE` would; everything is ended afterwards."""
    started: list[subprocess.Popen[bytes]] = []

    def start(file: str) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen([_built(kit, file)], cwd=kit, stdout=subprocess.DEVNULL))
        return started[-1]

    yield start
    for child in started:
        _end(child)


def _built(kit: Path, file: str) -> Path:
    binary = kit / "built" / file.removesuffix(".go")
    subprocess.run(["go", "build", "-o", binary, file], cwd=kit, check=True, timeout=300)
    return binary


def _end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()


def _output(kit: Path, client: str) -> str:
    made = subprocess.run([_built(kit, client)], capture_output=True, timeout=30, check=True)
    return made.stdout.decode()


def _solve(kit: Path, file: str, old: str, new: str) -> None:
    source = (kit / file).read_text(encoding="utf-8")
    assert old in source
    (kit / file).write_text(source.replace(old, new), encoding="utf-8")


def _port(kit: Path, task: str) -> int:
    found = re.search(
        r'address +(?:string )?= "127\.0\.0\.1:(\d+)"', (kit / task / "main.go").read_text()
    )
    assert found is not None
    return int(found[1])


def _codes(kit: Path, task: str) -> list[str]:
    return re.findall(r'code\w+ += "(\w+)"', (kit / task / "main.go").read_text(encoding="utf-8"))


def _until(text: str, ask: Callable[[], str]) -> str:
    """What is answered, once it contains the text."""
    end = time.monotonic() + START_S_MAX
    while True:
        try:
            answer = ask()
        except (OSError, grpc.RpcError) as error:
            answer = str(error)
        if text in answer or time.monotonic() > end:
            return answer
        time.sleep(0.1)


def test_every_pair_of_participants_has_both_orders() -> None:
    kit = Kit.drawn(101, seed=5)
    pairs = list(zip(kit.orders[::2], kit.orders[1::2], strict=False))
    assert len(kit.orders) == 101
    assert all(set(pair) == {"http", "grpc"} for pair in pairs)
    assert len(set(pairs)) == 2
    assert kit == Kit.drawn(101, seed=5)
    assert kit.codes != Kit.drawn(101, seed=6).codes


def test_a_kit_is_complete(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new" / "kit"
    assert main(["survey", "init", str(folder), "--participants", "3"]) == 0
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files >= {
        f"{task}/{name}"
        for task in ("http", "grpc")
        for name in ("main.go", "client.go", "server.go")
    }
    assert files >= {"grpc/protos/survey.proto", "index.html", "README.md", "go.mod", "go.sum"}
    rows = list(csv.DictReader((folder / "orders.csv").read_text().splitlines()))
    assert [row["participant"] for row in rows] == ["1", "2", "3"]
    task = (folder / "grpc" / "TASK.md").read_text(encoding="utf-8")
    assert "grpc/server.go" in task
    assert "http/" not in task
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert all(len(code) == CODE_LENGTH and code in page for code in _codes(folder, "http"))
    assert "http://" not in page.replace("http://127.0.0.1", "")
    assert all(item.text.replace("'", "\\u0027") in page for item in questionnaire().items)
    assert not list(folder.parent.glob(".*"))
    capsys.readouterr()
    assert main(["survey", "init", str(folder)]) == 2
    assert "not an empty directory" in " ".join(capsys.readouterr().err.split())
    assert main(["survey", "init", str(tmp_path / "b"), "--participants", "0"]) == 2
    assert not (tmp_path / "b").exists()


def test_right_solutions_with_http_are_correct(kit: Path, run: Run) -> None:
    """Before that, the empty ones are not."""
    code_sent, code_served = _codes(kit, "http")
    run("http/main.go")
    server = run("http/server.go")

    def check() -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{_port(kit, 'http')}/checkUser") as reply:
            return str(reply.read(), "utf-8")

    assert "Not yet: the reply is not a JSON object" in _until("JSON", check)
    _end(server)
    assert "Not yet: your server did not answer" in check()
    _solve(kit, "http/server.go", "r *http.Request) {\n", "r *http.Request) {\n" + HTTP_ANSWER)
    run("http/server.go")
    assert f"Correct! The code of this part is {code_served}." in _until("Correct", check)
    client = HTTP_CLIENT.replace(":8080", f":{_port(kit, 'http')}")
    (kit / "http" / "client.go").write_text(client, encoding="utf-8")
    assert _output(kit, "http/client.go") == f"Correct! The code of this part is {code_sent}.\n"


def test_right_solutions_with_grpc_are_correct(kit: Path, run: Run) -> None:
    """Checked by a client that is not ours, too."""
    code_sent, code_served = _codes(kit, "grpc")
    run("grpc/main.go")
    server = run("grpc/server.go")
    with grpc.insecure_channel(f"127.0.0.1:{_port(kit, 'grpc')}") as channel:
        call = channel.unary_unary(
            "/survey.Checker/CheckUser", request_serializer=Empty.SerializeToString
        )

        def check() -> str:
            return str(call(Empty(), timeout=20), "utf-8", "replace")

        assert "Not yet: " in _until("Not yet", check)
        _end(server)
        answer = "return nil, nil"
        _solve(kit, "grpc/server.go", answer, GRPC_ANSWER)
        run("grpc/server.go")
        assert f"Correct! The code of this part is {code_served}." in _until("Correct", check)
    _solve(
        kit,
        "grpc/client.go",
        "defer connection.Close()\n}\n",
        "defer connection.Close()\n" + GRPC_CLIENT,
    )
    imports = 'import (\n"context"\n"fmt"\n"survey/grpc/protos"\n'
    imports += '"google.golang.org/protobuf/types/known/emptypb"\n'
    _solve(kit, "grpc/client.go", "import (\n", imports)
    assert _output(kit, "grpc/client.go") == f"Correct! The code of this part is {code_sent}.\n"
