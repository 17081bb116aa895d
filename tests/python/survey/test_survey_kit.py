"""The kit of a survey: complete, counterbalanced, and solved by solutions that are right."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import urllib.request
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty

from tests.interop import driving
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


@dataclass(frozen=True)
class Checked:
    """A kit whose ports are free ones, so that whatever uses the study's does not matter."""

    folder: Path
    ports: dict[str, int]
    """By the study's."""

    def build(self, file: str) -> Path:
        """What `go run FILE` would run."""
        binary = self.folder / "built" / file.removesuffix(".go")
        command = ["go", "build", "-o", str(binary), file]
        subprocess.run(command, cwd=self.folder, check=True, timeout=300)
        return binary

    def run(self, file: str, port: str) -> AbstractContextManager[object]:
        """The program of that file, from the moment that it listens."""
        log = self.folder / "built" / "log"
        return driving.run_server([str(self.build(file))], log, self.ports[port])

    def output(self, file: str) -> str:
        """What a client prints."""
        made = subprocess.run([self.build(file)], capture_output=True, timeout=30, check=True)
        return made.stdout.decode()

    def solve(self, file: str, old: str, new: str) -> None:
        """What a participant writes."""
        source = (self.folder / file).read_text(encoding="utf-8")
        assert old in source
        (self.folder / file).write_text(source.replace(old, new), encoding="utf-8")


@pytest.fixture
def kit(tmp_path: Path, no_orphans: None) -> Checked:
    if shutil.which("go") is None:
        pytest.skip("no go in PATH: the kit's checks are Go programs")
    folder = tmp_path / "kit"
    assert main(["survey", "init", str(folder), "--participants", "4"]) == 0
    ports = {named: driving.free_port() for named in ("8080", "7070", "9009")}
    for source in folder.glob("*/*.go"):
        text = source.read_text(encoding="utf-8")
        for named, free in ports.items():
            text = text.replace(f":{named}", f":{free}")
        source.write_text(text, encoding="utf-8")
    return Checked(folder, ports)


def _codes(kit: Path, task: str) -> list[str]:
    return re.findall(r'code\w+ += "(\w+)"', (kit / task / "main.go").read_text(encoding="utf-8"))


def test_every_pair_of_participants_has_both_orders() -> None:
    kit = Kit.draw(101, seed=5)
    pairs = list(zip(kit.orders[::2], kit.orders[1::2], strict=False))
    assert len(kit.orders) == 101
    assert all(set(pair) == {"http", "grpc"} for pair in pairs)
    assert len(set(pairs)) == 2
    assert kit == Kit.draw(101, seed=5)
    assert kit.codes != Kit.draw(101, seed=6).codes


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


def test_right_solutions_with_http_are_correct(kit: Checked) -> None:
    """Before that, the empty ones are not."""
    code_sent, code_served = _codes(kit.folder, "http")
    url = f"http://127.0.0.1:{kit.ports['8080']}"

    def check() -> str:
        with urllib.request.urlopen(f"{url}/checkUser") as reply:
            return str(reply.read(), "utf-8")

    with kit.run("http/main.go", "8080"):
        assert "Not yet: your server did not answer" in check()
        with kit.run("http/server.go", "9009"):
            assert "Not yet: the reply is not a JSON object" in check()
        kit.solve("http/server.go", "r *http.Request) {\n", "r *http.Request) {\n" + HTTP_ANSWER)
        with kit.run("http/server.go", "9009"):
            assert check() == f"Correct! The code of this part is {code_served}.\n"
        client = HTTP_CLIENT.replace("http://127.0.0.1:8080", url)
        (kit.folder / "http" / "client.go").write_text(client, encoding="utf-8")
        assert kit.output("http/client.go") == f"Correct! The code of this part is {code_sent}.\n"


def test_right_solutions_with_grpc_are_correct(kit: Checked) -> None:
    """Checked by a client that is not ours, too."""
    code_sent, code_served = _codes(kit.folder, "grpc")
    address = f"127.0.0.1:{kit.ports['7070']}"
    with kit.run("grpc/main.go", "7070"), grpc.insecure_channel(address) as channel:
        call = channel.unary_unary(
            "/survey.Checker/CheckUser", request_serializer=Empty.SerializeToString
        )

        def check() -> str:
            return str(call(Empty(), timeout=20), "utf-8", "replace")

        with kit.run("grpc/server.go", "9009"):
            assert "Not yet: " in check()
        kit.solve("grpc/server.go", "return nil, nil", GRPC_ANSWER)
        with kit.run("grpc/server.go", "9009"):
            assert f"Correct! The code of this part is {code_served}." in check()
        kit.solve(
            "grpc/client.go",
            "defer connection.Close()\n}\n",
            "defer connection.Close()\n" + GRPC_CLIENT,
        )
        imports = 'import (\n"context"\n"fmt"\n"survey/grpc/protos"\n'
        imports += '"google.golang.org/protobuf/types/known/emptypb"\n'
        kit.solve("grpc/client.go", "import (\n", imports)
        assert kit.output("grpc/client.go") == f"Correct! The code of this part is {code_sent}.\n"
