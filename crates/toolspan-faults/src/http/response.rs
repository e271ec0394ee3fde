//! What does the head of a response look like on the wire?

/// Status and headers of a response, without those that tell how its body ends.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
}

impl Head {
    pub(crate) fn new(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
        }
    }

    /// The head of a body of JSON.
    pub(crate) fn json(status: u16) -> Self {
        Self::new(status).with("content-type", "application/json")
    }

    /// The head of a stream of events.
    pub(crate) fn events(status: u16) -> Self {
        Self::new(status)
            .with("content-type", "text/event-stream")
            .with("cache-control", "no-cache")
    }

    /// Adds a header.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Adds the headers of another head.
    pub(crate) fn and(mut self, more: &Self) -> Self {
        self.headers.extend(more.headers.iter().cloned());
        self
    }

    /// Whether there is a header of that name, which is in small letters.
    pub(crate) fn has(&self, name: &str) -> bool {
        let mut headers = self.headers.iter();
        headers.any(|(existing, _)| existing.eq_ignore_ascii_case(name))
    }

    /// The status line, the headers and the empty line behind them.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes =
            format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status)).into_bytes();
        for (name, value) in &self.headers {
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"\r\n");
        bytes
    }
}

/// The reason phrase of RFC 9110 for the codes that occur.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        415 => "Unsupported Media Type",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Status",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_a_status_line_headers_and_an_empty_line() {
        let head = Head::json(404).with("x-bytes", [0xe9]);
        let expected =
            b"HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\nx-bytes: \xe9\r\n\r\n";
        assert_eq!(head.bytes(), expected);
        assert!(head.has("content-type") && !head.has("location"));
    }
}
