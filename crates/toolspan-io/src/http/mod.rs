//! What is the only door to HTTP, and whom may it talk to?
//!
//! [`HttpClient`] sends an [`HttpRequest`] and gives an [`HttpResponse`], whose body is read piece by
//! piece or whole, always within a bound. It knows no protocol above HTTP and reads no environment:
//! proxies come in from a snapshot ([`Proxies`]). `reqwest` is beneath it, and named nowhere else.
//!
//! # Whom it may talk to
//!
//! | | a URL that the user wrote | a URL that a server named |
//! |---|---|---|
//! | `https` | any address | the public internet, or the origin of the user's URL |
//! | `http` | any address; [a warning](HttpClient::warnings) for a public one | the origin of the user's URL |
//! | local names (`localhost`, `*.local`, `*.internal` …) | yes | no |
//! | credentials before the host; other schemes | no | no |
//!
//! Who named a URL is said by [`UrlSource`]; the target of a redirect is always judged anew, and one
//! of another origin as named by a server. A name is looked up once for a connection; for a URL that a
//! server named each of its addresses must be public, and the connection goes to one of these very
//! addresses. Through a proxy, which resolves names itself, such a name is looked up here first.
//!
//! # Bounds
//!
//! | what | bound |
//! |---|---|
//! | a name | [`HttpSettings::dns`], 5 s |
//! | connection, TLS and proxy together | [`HttpSettings::connect`] + [`HttpSettings::tls_handshake`], 25 s |
//! | head of a response | [`HttpRequest::header_limit`]; 100 headers; about 400 KiB over HTTP/1, 256 KiB over HTTP/2 |
//! | a piece of a body | [`HttpRequest::idle_limit`] |
//! | a whole body | the reader's limit, counted after unpacking |
//! | bytes that came and nobody took yet | a buffer of about 400 KiB; over HTTP/2 2 MiB per response, 5 MiB per connection |
//! | a packed body | 100 times its packed size, above 1 MiB |
//! | redirects | [`Redirects`]: none, one or three |
//! | idle connections | 8 per host, 90 s |
//!
//! # What is done twice
//!
//! Nothing but this: a request for a connection that the server closed meanwhile, of which no byte
//! was written, goes over another one. [`HttpError::was_sent`] tells whoever wants to send again.

mod address;
mod bypass;
mod certificate;
mod classify;
mod client;
mod connections;
mod door;
mod error;
mod outgoing;
mod policy;
mod probe;
mod proxies;
mod redirect;
mod refusal;
mod request;
mod resolve;
mod response;
mod retry_after;
mod settings;
mod shown;
mod tls;
mod tls_problem;
mod unpack;
mod verifier;
mod warnings;

pub use client::HttpClient;
pub use error::{HttpError, WaitedFor};
pub use probe::ProbeStep;
pub use proxies::{Proxies, ProxyError};
pub use refusal::Refusal;
pub use request::{Begun, HttpRequest, Redirects, UrlSource};
pub use resolve::{Resolve, Resolving, SystemResolver};
pub use response::{Body, HttpResponse};
pub use retry_after::{LONGEST_RETRY_AFTER, http_date, retry_after};
pub use settings::HttpSettings;
pub use tls::TlsSettings;
pub use tls_problem::TlsProblem;
