#!/bin/sh
# The cargo that maturin calls, see xtask/src/python/wheel.rs. maturin asks for the module alone,
# which would compile 55 crates a second time with fewer features, and for variables that compile
# pyo3 anew each time. The module of the whole workspace is the same, and is already there.
set -eu
if [ "$1" != rustc ]; then
    exec cargo "$@"
fi
unset PYO3_BUILD_EXTENSION_MODULE PYO3_CONFIG_FILE PYO3_ENVIRONMENT_SIGNATURE PYO3_PYTHON
exec cargo build --workspace --all-targets --locked \
    --message-format json-render-diagnostics
