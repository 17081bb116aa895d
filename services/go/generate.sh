#!/bin/sh
# Makes CONTRACTpb/ from contracts/CONTRACT.proto, for every contract served, and the code of the
# survey's kit from its own .proto.
#
#   generate.sh           writes the code
#   generate.sh --check   fails when the committed code is not what would be written
#
# PROTOC names the compiler (default: grpcio-tools of the checkout's .venv, else
# protoc from PATH). The two Go generators are built from their pinned sources
# into .cache/, so only PROTOC can vary; the line in which they name its version
# is left out, so that it cannot make the code stale. "omitempty" is taken out of
# the JSON tags: by the contracts' mapping every field is written, empty ones too,
# and encoding/json then writes the messages as they are.
set -eu

protoc_gen_go=v1.36.12
protoc_gen_go_grpc=v1.6.2
contracts="transfer charging calendar records petclinic stream"

service=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$service/../.." && pwd)
kit="$root/python/wirelab/survey/kit"
tools="$root/.cache/go-tools/$protoc_gen_go-$protoc_gen_go_grpc"

fail() {
    echo "generate.sh: $1" >&2
    exit 1
}

find_protoc() {
    if [ -n "${PROTOC:-}" ]; then
        echo "$PROTOC"
    elif [ -x "$root/.venv/bin/python" ] && "$root/.venv/bin/python" -c 'import grpc_tools' 2>/dev/null; then
        echo "$root/.venv/bin/python -m grpc_tools.protoc"
    elif command -v protoc >/dev/null; then
        echo protoc
    else
        fail "no protoc: run 'make setup' (it installs grpcio-tools), or set PROTOC"
    fi
}

install_generators() {
    [ -x "$tools/protoc-gen-go" ] ||
        GOBIN="$tools" go install "google.golang.org/protobuf/cmd/protoc-gen-go@$protoc_gen_go"
    [ -x "$tools/protoc-gen-go-grpc" ] ||
        GOBIN="$tools" go install "google.golang.org/grpc/cmd/protoc-gen-go-grpc@$protoc_gen_go_grpc"
}

# compile FOLDER INTO MODULE FILE...: the .proto files of a folder.
compile() {
    folder=$1 into=$2 module=$3
    shift 3
    # $protoc may be a command of several words.
    $protoc --proto_path="$folder" \
        --plugin="protoc-gen-go=$tools/protoc-gen-go" \
        --plugin="protoc-gen-go-grpc=$tools/protoc-gen-go-grpc" \
        --go_out="$into" --go_opt=module="$module" \
        --go-grpc_out="$into" --go-grpc_opt=module="$module" "$@"
}

write_into() {
    compile "$root/contracts" "$1" wirelab/services/go \
        $(for contract in $contracts; do echo "$contract.proto"; done)
    for file in $(for contract in $contracts; do echo "$1/${contract}pb/*.go"; done); do
        sed -e '/^\/\/ .*[[:space:]]protoc  *v[0-9]/d' \
            -e 's/\(json:"[A-Za-z0-9_]*\),omitempty"/\1"/' "$file" >"$file.tmp"
        mv "$file.tmp" "$file"
    done
}

# The kit's code into $1/grpc/protos.
write_kit_into() {
    compile "$kit/grpc/protos" "$1" survey survey.proto
    for file in "$1"/grpc/protos/*.go; do
        sed -e '/^\/\/ .*[[:space:]]protoc  *v[0-9]/d' "$file" >"$file.tmp"
        mv "$file.tmp" "$file"
    done
}

[ $# -eq 0 ] || [ "$*" = "--check" ] || fail "unknown option '$*': the only one is --check"
protoc=$(find_protoc)
install_generators
if [ $# -eq 0 ]; then
    write_into "$service"
    write_kit_into "$kit"
    exit 0
fi
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
write_into "$fresh"
for contract in $contracts; do
    diff -ru "$service/${contract}pb" "$fresh/${contract}pb" >&2 ||
        fail "services/go/${contract}pb is stale: run 'make generate' and commit it"
done
write_kit_into "$fresh"
diff -ru --exclude=survey.proto "$kit/grpc/protos" "$fresh/grpc/protos" >&2 ||
    fail "the survey's kit is stale: run 'make generate' and commit it"
