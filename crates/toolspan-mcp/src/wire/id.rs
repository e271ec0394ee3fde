//! Which of our requests a message belongs to, also when the message cannot be read.

/// The number in an id that is one of ours: a whole number, or the same number as a string
/// (some gateways rewrite ids so). Anything else was never sent by us.
pub(crate) fn ours(id: &str) -> Option<u64> {
    let digits = id
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(id);
    let canonical = digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'));
    if canonical { digits.parse().ok() } else { None }
}

/// What a text that is cut, too deep or no JSON at all was meant to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// The reply to this request of ours.
    Reply(u64),
    /// A request or a notification of the server, whatever its id.
    Method,
    /// It cannot be known.
    Unknown,
}

/// Looks for the members `id`, `method` and `params` of the outermost object, without recursion.
/// Finds nothing rather than something wrong: a member inside a string or an inner object does not
/// count.
pub(crate) fn of_unreadable(text: &[u8]) -> Unreadable {
    let mut scan = Scan { text, at: 0 };
    let (mut depth, mut found) = (0_usize, None);
    while let Some(byte) = scan.next() {
        match byte {
            b'"' => {
                let start = scan.at;
                let end = scan.skip_string();
                let key = text.get(start..end).unwrap_or_default();
                if depth != 1 || !scan.skip_colon() {
                    continue;
                }
                match key {
                    b"method" | b"params" => return Unreadable::Method,
                    b"id" if found.is_none() => found = Some(scan.scalar()),
                    _ => {}
                }
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    found
        .and_then(|scalar| std::str::from_utf8(scalar).ok())
        .and_then(ours)
        .map_or(Unreadable::Unknown, Unreadable::Reply)
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    fn next(&mut self) -> Option<u8> {
        let byte = self.text.get(self.at).copied();
        self.at += usize::from(byte.is_some());
        byte
    }

    /// Moves behind the closing quote; gives where the string's content ends.
    fn skip_string(&mut self) -> usize {
        while let Some(byte) = self.next() {
            match byte {
                b'"' => return self.at - 1,
                b'\\' => {
                    self.next();
                }
                _ => {}
            }
        }
        self.at
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.text.get(self.at) {
            self.at += 1;
        }
    }

    fn skip_colon(&mut self) -> bool {
        self.skip_space();
        let found = self.text.get(self.at) == Some(&b':');
        self.at += usize::from(found);
        self.skip_space();
        found
    }

    /// The bytes up to the next `,`, bracket or space; the scan stays before them.
    fn scalar(&self) -> &'a [u8] {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let ends = |byte: &u8| {
            matches!(
                byte,
                b',' | b'}' | b']' | b'{' | b'[' | b' ' | b'\t' | b'\r' | b'\n'
            )
        };
        let end = rest.iter().position(ends).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_numbers_in_strings_are_ours() {
        assert_eq!(ours("7"), Some(7));
        assert_eq!(ours("\"7\""), Some(7));
        for foreign in [
            "07",
            "-1",
            "1.0",
            "1e0",
            "\"\"",
            "",
            "null",
            "\" 7\"",
            "{}",
            "99999999999999999999",
        ] {
            assert_eq!(ours(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn the_outermost_id_is_found_in_broken_text() {
        for text in [
            &br#"{"jsonrpc":"2.0","id":12,"result":"#[..],
            br#"{not json, "id": 12, x"#,
            br#"{"result":{"id":99,"a":"\"id\":98"},"id" : "12"}"#,
            b"{\"id\":12,\"result\":\"\xff\xfe",
        ] {
            assert_eq!(
                of_unreadable(text),
                Unreadable::Reply(12),
                "{}",
                String::from_utf8_lossy(text)
            );
        }
    }

    #[test]
    fn a_text_with_a_method_or_parameters_is_no_reply() {
        for text in [
            &br#"{"id":12,"method":"sampling/createMessage","params":["#[..],
            br#"{"jsonrpc":"2.0","id":12,"params":{"text":""#,
            br#"{"method":"notifications/message","params":{"data":""#,
        ] {
            assert_eq!(of_unreadable(text), Unreadable::Method);
        }
    }

    #[test]
    fn inner_ids_and_plain_text_give_nothing() {
        for text in [
            &br#"{"result":{"id":12}}"#[..],
            br#"{"result":{"method":"x","params":{}}}"#,
            br#"{"text":"\"id\":12,\"method\":1"}"#,
            br#"[{"id":12}]"#,
            b"listening, id: 12",
            br#"{"id"#,
            br#"{"id":"#,
            b"",
        ] {
            assert_eq!(
                of_unreadable(text),
                Unreadable::Unknown,
                "{}",
                String::from_utf8_lossy(text)
            );
        }
    }
}
