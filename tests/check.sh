#!/usr/bin/env bash
# Everything that must hold before a change is merged: run from anywhere, `bash tests/check.sh`.
# Installs tmux if it is missing. On 2 cores from a clean clone it takes well under 30 minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo "$@"; else
    echo "check.sh: not root and no sudo; install tmux by hand" >&2
    return 1
  fi
}

install_tmux() {
  if command -v apt-get >/dev/null; then
    root apt-get update -qq && root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq tmux
  elif command -v dnf >/dev/null; then root dnf install -y -q tmux
  elif command -v pacman >/dev/null; then root pacman -Sy --noconfirm tmux
  elif command -v apk >/dev/null; then root apk add --quiet tmux
  elif command -v brew >/dev/null; then brew install --quiet tmux
  else
    echo "check.sh: no known package manager; install tmux by hand" >&2
    return 1
  fi
}

step() {
  echo
  echo "== $*"
  local start=$SECONDS
  "$@"
  echo "== ok after $((SECONDS - start)) s: $*"
}

# Runs the tests and repeats the closing line of each binary at the end.
tests() {
  local log
  log=$(mktemp)
  local status=0
  cargo test --locked 2>&1 | tee "$log" || status=$?
  summary=$(grep -E '^ +(Running|Doc-tests)|^test result:' "$log" || true)
  rm -f "$log"
  return "$status"
}

# Builds each fuzz target and runs it briefly, where cargo-fuzz can be had.
fuzz() {
  if [ ! -f fuzz/Cargo.toml ]; then
    echo "no fuzz targets"
    return
  fi
  if ! cargo fuzz --version >/dev/null 2>&1 && ! cargo install cargo-fuzz --locked; then
    echo "cargo-fuzz cannot be installed here; the fuzz targets were not run"
    return
  fi
  export RUSTC_BOOTSTRAP=1
  local target
  for target in $(cargo fuzz list); do
    cargo fuzz build "$target"
    cargo fuzz run "$target" -- -max_total_time="${FUZZ_SECONDS:-5}" -timeout=10 -rss_limit_mb=4096
  done
}

command -v tmux >/dev/null || step install_tmux
tmux -V
cargo --version

step cargo fmt --all --check
step cargo clippy --locked --all-targets -- -D warnings
step tests
step env RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps
step cargo bench --locked --no-run
# In a shell of its own: RUSTC_BOOTSTRAP must reach nothing else.
(step fuzz)

echo
echo "$summary"
echo "all checks passed in $SECONDS s"
