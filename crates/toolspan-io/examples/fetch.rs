//! How is a body read within a bound, and what does it cost?
//!
//! `fetch URL LIMIT` reads a whole body of at most LIMIT bytes; `fetch URL` reads it piece by piece
//! and keeps nothing. Says what came, and the most memory that the process ever had (on Linux).
#![expect(clippy::print_stdout, reason = "a program talks to its caller")]

use std::error::Error;

use http::Method;
use toolspan_io::http::{HttpClient, HttpError, HttpRequest, HttpSettings};
use url::Url;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("usage: fetch URL [LIMIT]")?;
    let limit = arguments.next().map(|limit| limit.parse()).transpose()?;
    let url = Url::parse(&url)?;
    let client = HttpClient::new(HttpSettings::new(url.clone()))?;
    let read = match limit {
        Some(limit) => whole(&client, url, limit).await,
        None => pieces(&client, url).await,
    };
    match read {
        Ok(length) => println!("read {length} bytes"),
        Err(error) => println!("failed: {error}"),
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(line) = status.lines().find(|line| line.starts_with("VmHWM:")) {
        println!("{line}");
    }
    Ok(())
}

async fn whole(client: &HttpClient, url: Url, limit: usize) -> Result<usize, HttpError> {
    let mut answer = client.send(HttpRequest::new(Method::GET, url)).await?;
    Ok(answer.read_whole(limit).await?.len())
}

async fn pieces(client: &HttpClient, url: Url) -> Result<usize, HttpError> {
    let mut answer = client.send(HttpRequest::new(Method::GET, url)).await?;
    let mut length = 0;
    while let Some(piece) = answer.body().chunk().await? {
        length += piece.len();
    }
    Ok(length)
}
