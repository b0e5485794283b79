#!/bin/sh
# Prints a Python 3.11 or newer that can make virtual environments; otherwise says what to install.
# Arguments: other commands that must be there, named as their Debian packages.
missing=""
for command in "$@"; do
    command -v "$command" >/dev/null 2>&1 || missing="$missing $command"
done

new_enough='import sys; sys.exit(sys.version_info < (3, 11))'
python=""
without_venv=""
for candidate in ${PYTHON:-python3 python3.13 python3.12 python3.11}; do
    "$candidate" -c "$new_enough" >/dev/null 2>&1 || continue
    # Debian keeps ensurepip, without which there is no pip in a new environment, in a package of its own.
    if "$candidate" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        python="$candidate"
        break
    fi
    without_venv="${without_venv:-$(basename "$candidate")-venv}"
done
if [ -n "$python" ]; then
    :
elif [ -n "$without_venv" ]; then
    missing="$missing $without_venv"
elif command -v python3 >/dev/null 2>&1; then
    missing="$missing python3.11-venv" # python3 is too old; Ubuntu has a newer one under its full name
else
    missing="$missing python3-venv"
fi

if [ -n "$missing" ]; then
    [ -z "${PYTHON:-}" ] || echo "PYTHON=$PYTHON was given and is the only one tried." >&2
    [ "$(id -u)" = 0 ] && sudo="" || sudo="sudo "
    echo "Cutaway needs Python 3.11 or newer with venv, git and make. On Debian or Ubuntu:" >&2
    echo "    ${sudo}apt-get update && ${sudo}apt-get install -y$missing" >&2
    exit 1
fi
command -v "$python"
