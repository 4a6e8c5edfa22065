# Sourced by the scripts of deploy/: makes a virtual environment in the checkout when it is needed.

fail() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit 1
}

# Prints the comment at the beginning of the script.
print_usage() {
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
}

# Prints the first suitable Python: 3.11 or later, able to make virtual environments.
find_python() {
  local candidate seen=""
  for candidate in python3.12 python3.11 python3.13 python3 python3.14 python; do
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
  fail "Python 3.11 or later is needed (on Debian 12: apt install python3 python3-venv).${seen:- None was found.}"
}

# make_environment DIRECTORY EXTRAS: installs pitlink there, editable, so code changes take effect.
# It installs only if pyproject.toml, the last release, the directory or the Python has changed.
make_environment() {
  local directory=$1 extras=$2 python stamp
  # The commit is not in the version: the installation is editable, so it is right for later commits too.
  local -x SETUPTOOLS_SCM_PRETEND_VERSION_FOR_PITLINK
  SETUPTOOLS_SCM_PRETEND_VERSION_FOR_PITLINK=$(last_release)+checkout
  if [ -x "$directory/bin/python" ]; then
    stamp=$(environment_stamp "$directory/bin/python" "$extras" 2>/dev/null || true)
    [ -n "$stamp" ] && [ "$stamp" = "$(cat "$directory/stamp" 2>/dev/null)" ] && return
  fi
  python=$(find_python)
  printf '%s: installing into %s (once, about a minute)\n' "${0##*/}" "$directory" >&2
  "$python" -m venv --clear "$directory"
  "$directory/bin/python" -m pip --disable-pip-version-check install \
    --only-binary :all: -e "$root[$extras]" >"$directory/pip.log" 2>&1 ||
    { cat "$directory/pip.log" >&2; fail "the installation failed; see pip's messages above"; }
  environment_stamp "$directory/bin/python" "$extras" >"$directory/stamp"
}

# Prints the version of the last tag, for example 0.1.0 for v0.1.0, and 0.0.0 without a tag or git.
last_release() {
  local tag
  tag=$(git -C "$root" describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null || echo v0.0.0)
  printf '%s' "${tag#v}"
}

environment_stamp() {
  "$1" - "$root" "$2" <<'PYTHON'
import hashlib, os, pathlib, sys
root, extras = sys.argv[1:]
version = os.environ["SETUPTOOLS_SCM_PRETEND_VERSION_FOR_PITLINK"]
parts = [root, extras, version, sys.version, (pathlib.Path(root) / "pyproject.toml").read_text()]
print(hashlib.sha256("\0".join(parts).encode()).hexdigest())
PYTHON
}

# Makes a separate environment with the tools that lock, audit and list the dependencies, and build the wheel.
make_tools_environment() {
  local directory=$root/.venv-tools python
  [ -x "$directory/bin/uv" ] && [ -x "$directory/bin/pip-audit" ] && [ -x "$directory/bin/cyclonedx-py" ] && return
  python=$(find_python)
  "$python" -m venv --clear "$directory"
  "$directory/bin/python" -m pip --disable-pip-version-check -q install \
    "uv>=0.5,<1" "pip-audit>=2.7,<3" "cyclonedx-bom>=7,<8" ||
    fail "the installation failed; see pip's messages above"
}

# Makes a separate environment with what deploy/site/build needs, as deploy/site/requirements.lock has it.
# Tests name a Python that has it: PITLINK_SITE_PYTHON.
make_site_environment() {
  [ -z "${PITLINK_SITE_PYTHON:-}" ] || return 0
  local directory=$root/.venv-site lock=$root/deploy/site/requirements.lock python stamp
  stamp=$(sha256sum <"$lock")
  [ -x "$directory/bin/mkdocs" ] && [ "$stamp" = "$(cat "$directory/stamp" 2>/dev/null)" ] && return
  python=$(find_python)
  "$python" -m venv --clear "$directory"
  "$directory/bin/python" -m pip --disable-pip-version-check -q install \
    --only-binary :all: --require-hashes -r "$lock" || fail "the installation failed; see pip's messages above"
  printf '%s' "$stamp" >"$directory/stamp"
}

# add_site TREE: builds the documents of a copy of the checkout into its package, with the tools of this one.
add_site() {
  make_site_environment
  ln -sfn "$root/.venv-site" "$1/.venv-site"
  "$1/deploy/site/build" "$1/meters/web/site"
}
