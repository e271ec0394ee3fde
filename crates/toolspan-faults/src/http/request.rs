//! How is a request read, with a bound on each of its parts?

use std::io::{self, BufRead, Read};

/// The longest head (request line and headers) in bytes: 1 MiB.
pub(crate) const MAX_HEAD_BYTES: u64 = 1 << 20;

/// The longest body in bytes: 64 MiB, as the longest line over stdio.
pub(crate) const MAX_BODY_BYTES: u64 = 64 << 20;

/// A request of HTTP/1.1.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// As written: path and query.
    pub(crate) target: String,
    /// Names in small letters, values without the blanks around them.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Whether it came to the second port.
    pub(crate) at_other_port: bool,
}

/// Why there is no next request.
#[derive(Debug)]
pub(crate) enum RequestError {
    /// What came is no request.
    Malformed(&'static str),
    /// Reading failed, or the connection ended inside a request.
    Read,
}

impl From<io::Error> for RequestError {
    fn from(_: io::Error) -> Self {
        Self::Read
    }
}

impl Request {
    /// The value of the first header of that name, which is in small letters.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(existing, _)| existing == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The target without its query.
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// The value of a key of the query, as written.
    pub(crate) fn query(&self, key: &str) -> Option<&str> {
        let (_, query) = self.target.split_once('?')?;
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs
            .filter(|(name, _)| *name == key)
            .map(|(_, value)| value)
            .next()
    }

    /// Whether the client wants the connection closed after the response.
    pub(crate) fn is_last(&self) -> bool {
        let connection = self.header("connection").unwrap_or_default();
        connection.eq_ignore_ascii_case("close")
    }
}

/// Reads one request; the source stands at its first byte.
pub(crate) fn read_request(source: &mut impl BufRead) -> Result<Request, RequestError> {
    let mut head = source.by_ref().take(MAX_HEAD_BYTES);
    let line = read_line(&mut head)?;
    let mut words = line.split(' ');
    let (Some(method), Some(target), Some(version)) = (words.next(), words.next(), words.next())
    else {
        return Err(RequestError::Malformed("no request line"));
    };
    if !version.starts_with("HTTP/1.") {
        return Err(RequestError::Malformed("no HTTP/1"));
    }
    let mut request = Request {
        method: method.to_owned(),
        target: target.to_owned(),
        ..Request::default()
    };
    loop {
        let line = read_line(&mut head)?;
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(RequestError::Malformed("a header without a colon"));
        };
        let header = (name.to_ascii_lowercase(), value.trim().to_owned());
        request.headers.push(header);
    }
    request.body = read_body(source, &request)?;
    Ok(request)
}

/// A line without its end, `\r\n` or `\n`. Bytes that are not UTF-8 are replaced.
fn read_line(source: &mut impl BufRead) -> Result<String, RequestError> {
    let mut line = Vec::new();
    source.read_until(b'\n', &mut line)?;
    if line.pop() != Some(b'\n') {
        return Err(RequestError::Read);
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

fn read_body(source: &mut impl BufRead, request: &Request) -> Result<Vec<u8>, RequestError> {
    if let Some(coding) = request.header("transfer-encoding") {
        if !coding.eq_ignore_ascii_case("chunked") {
            return Err(RequestError::Malformed("an unknown transfer coding"));
        }
        return read_chunks(source);
    }
    let Some(length) = request.header("content-length") else {
        return Ok(Vec::new());
    };
    let length = length.parse().unwrap_or(u64::MAX);
    let mut body = Vec::new();
    read_part(source, length, &mut body)?;
    Ok(body)
}

fn read_chunks(source: &mut impl BufRead) -> Result<Vec<u8>, RequestError> {
    let mut body = Vec::new();
    loop {
        let line = read_line(&mut source.by_ref().take(MAX_HEAD_BYTES))?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let Ok(size) = u64::from_str_radix(digits, 16) else {
            return Err(RequestError::Malformed("a chunk without a size"));
        };
        read_part(source, size, &mut body)?;
        // Behind a chunk comes an empty line; behind the last one perhaps trailers, never here.
        read_line(&mut source.by_ref().take(MAX_HEAD_BYTES))?;
        if size == 0 {
            return Ok(body);
        }
    }
}

/// Adds so many bytes to a body.
fn read_part(source: &mut impl BufRead, size: u64, body: &mut Vec<u8>) -> Result<(), RequestError> {
    if size.saturating_add(body.len() as u64) > MAX_BODY_BYTES {
        return Err(RequestError::Malformed("a body of more than 64 MiB"));
    }
    let read = source.by_ref().take(size).read_to_end(body)?;
    if read as u64 == size {
        Ok(())
    } else {
        Err(RequestError::Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Request, RequestError> {
        read_request(&mut text.as_bytes())
    }

    #[test]
    fn a_request_has_a_target_headers_and_a_body() {
        let text =
            "POST /mcp?session=7&x=1 HTTP/1.1\r\nHost:  a \r\nContent-Length: 2\r\n\r\n{}more";
        let request = read(text).expect("a request");
        assert_eq!(request.method, "POST");
        assert_eq!(request.path(), "/mcp");
        assert_eq!(request.query("session"), Some("7"));
        assert_eq!(request.header("host"), Some("a"));
        assert_eq!(request.body, b"{}");
    }

    #[test]
    fn a_body_may_come_in_chunks() {
        let text = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
        assert_eq!(read(text).expect("a request").body, b"abc");
    }

    #[test]
    fn what_is_no_request_or_only_half_of_one_is_refused() {
        for text in [
            "",
            "GET /\r\n\r\n",
            "GET / HTTP/2\r\n\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab",
            "POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\nab",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
