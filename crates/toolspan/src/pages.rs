//! Do the Rust blocks of the README and the book compile? Built for documentation tests alone.

#[doc = include_str!("../../../README.md")]
struct Readme;

#[doc = include_str!("../../../docs/src/getting-started.md")]
struct GettingStarted;

#[doc = include_str!("../../../docs/src/guide/model-apis.md")]
struct ModelApis;

#[doc = include_str!("../../../docs/src/guide/native-tool.md")]
struct NativeTool;

#[doc = include_str!("../../../docs/src/reference/errors.md")]
struct Errors;
