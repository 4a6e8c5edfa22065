# Sourced by deploy/demo and deploy/test: a virtual environment in the checkout, made when needed.

fail() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit 1
}

# Prints the first Python that will do: 3.11 or later, able to make virtual environments.
find_python() {
  local candidate seen=""
  for candidate in python3.13 python3.12 python3.11 python3 python3.14 python; do
    command -v "$candidate" >/dev/null 2>&1 || continue
    if ! "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      seen="$seen $candidate is $("$candidate" -V 2>&1 | tail -n 1);"
    elif ! "$candidate" -c 'import ensurepip, venv' 2>/dev/null; then
      seen="$seen $candidate cannot make virtual environments (on Debian: apt install $candidate-venv);"
    else
      command -v "$candidate"
      return
    fi
  done
  fail "Python 3.11 or later is needed.${seen:- None was found.}"
}

# make_environment DIRECTORY EXTRAS: have pitlink installed there, editable, so that changes of the
# code are live. Installs only when pyproject.toml, the place or the Python has changed.
make_environment() {
  local directory=$1 extras=$2 python stamp
  if [ -x "$directory/bin/python" ]; then
    stamp=$(environment_stamp "$directory/bin/python" "$extras" 2>/dev/null || true)
    [ -n "$stamp" ] && [ "$stamp" = "$(cat "$directory/stamp" 2>/dev/null)" ] && return
  fi
  python=$(find_python)
  printf '%s: installing into %s (once)\n' "${0##*/}" "$directory" >&2
  "$python" -m venv --clear "$directory"
  "$directory/bin/python" -m pip --disable-pip-version-check -q install \
    --only-binary :all: -e "$root[$extras]" ||
    fail "the installation failed; pip's own words are above"
  environment_stamp "$directory/bin/python" "$extras" >"$directory/stamp"
}

environment_stamp() {
  "$1" - "$root" "$2" <<'PYTHON'
import hashlib, pathlib, sys
root, extras = sys.argv[1:]
parts = [root, extras, sys.version, (pathlib.Path(root) / "pyproject.toml").read_text()]
print(hashlib.sha256("\0".join(parts).encode()).hexdigest())
PYTHON
}

# What locks and audits the dependencies, in an environment of its own: no part of pitlink.
make_tools_environment() {
  local directory=$root/.venv-tools python
  [ -x "$directory/bin/uv" ] && [ -x "$directory/bin/pip-audit" ] && return
  python=$(find_python)
  "$python" -m venv --clear "$directory"
  "$directory/bin/python" -m pip --disable-pip-version-check -q install "uv>=0.5,<1" "pip-audit>=2.7,<3" ||
    fail "the installation failed; pip's own words are above"
}
