//! How is a call, or what came of it, shown to a person?

use std::borrow::Cow;
use std::fmt;

use crate::guard::sanitise::for_people;

/// What a part of a text means to the person who reads it. Whoever shows it picks the look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Style {
    /// Ordinary text.
    #[default]
    Plain,
    /// What the eye should fall on first.
    Strong,
    /// What may be passed over.
    Faint,
    /// A name: of a tool, an argument, a file.
    Name,
    /// A success.
    Good,
    /// Something to look at twice.
    Warning,
    /// A failure, or a danger.
    Bad,
}

impl Style {
    /// Every style.
    pub const ALL: [Self; 7] = [
        Self::Plain,
        Self::Strong,
        Self::Faint,
        Self::Name,
        Self::Good,
        Self::Warning,
        Self::Bad,
    ];

    /// The style's name in JSON and Python.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Strong => "strong",
            Self::Faint => "faint",
            Self::Name => "name",
            Self::Good => "good",
            Self::Warning => "warning",
            Self::Bad => "bad",
        }
    }

    /// The style of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|style| style.as_str() == name)
    }

    /// The parameters of the control sequence (ECMA-48, SGR) that begins it.
    const fn sgr(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Strong => Some("1"),
            Self::Faint => Some("2"),
            Self::Name => Some("36"),
            Self::Good => Some("32"),
            Self::Warning => Some("33"),
            Self::Bad => Some("31"),
        }
    }
}

/// A piece of text in one style, as it was given: not safe for a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span {
    /// The text, which may have several lines.
    pub text: String,
    /// What it means.
    pub style: Style,
}

/// Text for people, in spans of a few styles.
///
/// What the spans hold may come from a model or a server. Both forms in which it is shown are safe
/// for a terminal ([`for_people`]): the only control sequences in them are those of the styles.
///
/// ```
/// use toolspan_core::visual::{Style, Styled};
///
/// let shown = Styled::plain("$ ").with(Style::Strong, "rm -r build\x1b[2J");
/// assert_eq!(shown.to_plain(), "$ rm -r build");
/// assert_eq!(shown.to_ansi(), "$ \x1b[1mrm -r build\x1b[0m");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Styled {
    spans: Vec<Span>,
}

impl Styled {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self { spans: Vec::new() }
    }

    /// Ordinary text.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::new().with(Style::Plain, text)
    }

    /// Adds text in a style.
    #[must_use]
    pub fn with(mut self, style: Style, text: impl Into<String>) -> Self {
        self.push(style, text);
        self
    }

    /// Adds text in a style.
    pub fn push(&mut self, style: Style, text: impl Into<String>) {
        let text = text.into();
        if text.is_empty() {
            return;
        }
        match self.spans.last_mut() {
            Some(last) if last.style == style => last.text.push_str(&text),
            _ => self.spans.push(Span { text, style }),
        }
    }

    /// Adds all spans of another text.
    pub fn append(&mut self, other: Self) {
        for span in other.spans {
            self.push(span.style, span.text);
        }
    }

    /// The spans in order, as they were given: not safe for a terminal. None is empty, and no two
    /// neighbours have one style.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Whether there is no text at all.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// At most this many characters of it; `…` stands for what is left out.
    #[must_use]
    pub fn within(mut self, max_chars: usize) -> Self {
        let mut room = max_chars;
        for (index, span) in self.spans.iter_mut().enumerate() {
            match span.text.char_indices().nth(room) {
                Some((cut, _)) => {
                    span.text.truncate(cut);
                    span.text.push('…');
                    self.spans.truncate(index + 1);
                    return self;
                }
                None => room -= span.text.chars().count(),
            }
        }
        self
    }

    /// The text alone, safe for a terminal.
    pub fn to_plain(&self) -> String {
        self.spans
            .iter()
            .map(|span| for_people(&span.text))
            .collect()
    }

    /// The text with its styles as control sequences, safe for a terminal. Each line stands for
    /// itself: no style runs over the end of one.
    pub fn to_ansi(&self) -> String {
        let mut shown = String::new();
        for span in &self.spans {
            let text = for_people(&span.text);
            match span.style.sgr() {
                Some(sgr) => push_styled(&mut shown, &text, sgr),
                None => shown.push_str(&text),
            }
        }
        shown
    }

    /// A copy with every span's text replaced, such as by one without its secrets.
    #[must_use]
    pub fn map_text<'a>(&'a self, mut change: impl FnMut(&'a str) -> Cow<'a, str>) -> Self {
        let mut changed = Self::new();
        for span in &self.spans {
            changed.push(span.style, change(&span.text));
        }
        changed
    }
}

fn push_styled(shown: &mut String, text: &str, sgr: &str) {
    for line in text.split_inclusive('\n') {
        let (words, end) = match line.strip_suffix('\n') {
            Some(words) => (words, "\n"),
            None => (line, ""),
        };
        if !words.is_empty() {
            shown.push_str(&format!("\u{1b}[{sgr}m{words}\u{1b}[0m"));
        }
        shown.push_str(end);
    }
}

impl From<String> for Styled {
    fn from(text: String) -> Self {
        Self::plain(text)
    }
}

impl From<&str> for Styled {
    fn from(text: &str) -> Self {
        Self::plain(text)
    }
}

/// As [`Styled::to_plain`].
impl fmt::Display for Styled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spans
            .iter()
            .try_for_each(|span| formatter.write_str(&for_people(&span.text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_ends_with_its_line_and_empty_lines_have_none() {
        let shown = Styled::new()
            .with(Style::Bad, "a\n\nb")
            .with(Style::Plain, "c");
        assert_eq!(shown.to_ansi(), "\x1b[31ma\x1b[0m\n\n\x1b[31mb\x1b[0mc");
        assert_eq!(shown.to_plain(), "a\n\nbc");
    }

    #[test]
    fn neighbours_of_one_style_are_one_span_and_empty_text_is_none() {
        let mut shown = Styled::plain("a")
            .with(Style::Plain, "b")
            .with(Style::Bad, "");
        shown.append(Styled::plain("c").with(Style::Good, "d"));
        let spans: Vec<(&str, Style)> = shown
            .spans()
            .iter()
            .map(|span| (span.text.as_str(), span.style))
            .collect();
        assert_eq!(spans, [("abc", Style::Plain), ("d", Style::Good)]);
    }

    #[test]
    fn a_control_sequence_cannot_be_put_together_from_two_spans() {
        let shown = Styled::plain("a\x1b").with(Style::Strong, "[2Jb\u{202e}");
        assert_eq!(shown.to_ansi(), "a\x1b[1m[2Jb<U+202E>\x1b[0m");
        assert_eq!(shown.to_string(), "a[2Jb<U+202E>");
    }

    #[test]
    fn a_cut_text_keeps_its_styles_and_shows_that_it_was_cut() {
        let shown = Styled::plain("äb")
            .with(Style::Bad, "cd")
            .with(Style::Good, "e");
        assert_eq!(shown.clone().within(5), shown);
        assert_eq!(shown.clone().within(4).to_plain(), "äbcd…");
        let cut = shown.within(3);
        assert_eq!(cut.to_ansi(), "äb\x1b[31mc…\x1b[0m");
    }

    #[test]
    fn every_style_is_found_by_its_name() {
        for style in Style::ALL {
            assert_eq!(Style::named(style.as_str()), Some(style));
        }
        assert_eq!(Style::named("blinking"), None);
    }
}
