//! Which tools fit a few words, the best first?
//!
//! A [`SearchIndex`] is a value, made once for a list of tools: it ranks by BM25 (Robertson and
//! Zaragoza, 2009) over the words of the name, of the description and of the parameters. Words of a
//! name count more than words of a long description.

mod words;

use std::collections::HashMap;

use serde_json::Value;

use crate::definition::ToolDefinition;
use words::words;

/// How soon a word that is repeated counts no more (BM25's k1).
const SATURATION: f64 = 1.2;
/// How much a long text is counted down (BM25's b).
const LENGTH: f64 = 0.75;
/// How often a word of the name counts.
const NAME_WEIGHT: u32 = 4;
/// How often the name of a parameter counts.
const PARAMETER_WEIGHT: u32 = 2;
/// Most words of one text that are read; further ones are left out.
const MOST_WORDS: usize = 1_000;
/// Most parameters of one tool that are read.
const MOST_PARAMETERS: usize = 200;
/// Most different words of a query.
const MOST_ASKED: usize = 32;

/// Tools in an order, and the words that they are found by.
///
/// ```
/// use toolspan_core::search::SearchIndex;
///
/// let mut index = SearchIndex::default();
/// index.add_text("getWeather", "Tells the weather of a city");
/// index.add_text("send_mail", "Sends a letter");
/// assert_eq!(index.search("weather", 5).first().map(|hit| hit.place), Some(0));
/// assert!(index.search("database", 5).is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct SearchIndex {
    /// For each word, the places it is in and how much it counts there, in order.
    places: HashMap<String, Vec<(usize, u32)>>,
    /// The length of each entry, in counted words.
    lengths: Vec<u32>,
}

/// An entry that fits a query.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// Its place in the order in which entries were added, from 0.
    pub place: usize,
    /// How well it fits, above 0. Comparable within one answer alone.
    pub score: f64,
}

impl SearchIndex {
    /// An index of these tools by their exposed names.
    pub fn of<'t>(tools: impl IntoIterator<Item = (&'t str, &'t ToolDefinition)>) -> Self {
        let mut index = Self::default();
        for (name, definition) in tools {
            index.add(name, definition);
        }
        index
    }

    /// Adds a tool by its exposed name, its description and its parameters.
    pub fn add(&mut self, name: &str, definition: &ToolDefinition) {
        let mut entry = Entry::default();
        entry.read(name, NAME_WEIGHT);
        entry.read(&definition.description, 1);
        let parameters = definition.input.raw().get("properties");
        let parameters = parameters.and_then(Value::as_object);
        for (name, schema) in parameters.into_iter().flatten().take(MOST_PARAMETERS) {
            entry.read(name, PARAMETER_WEIGHT);
            if let Some(description) = schema.get("description").and_then(Value::as_str) {
                entry.read(description, 1);
            }
        }
        self.keep(entry);
    }

    /// Adds what has a name and a description alone.
    pub fn add_text(&mut self, name: &str, description: &str) {
        let mut entry = Entry::default();
        entry.read(name, NAME_WEIGHT);
        entry.read(description, 1);
        self.keep(entry);
    }

    fn keep(&mut self, entry: Entry) {
        let place = self.lengths.len();
        let length = entry.counts.values().sum();
        self.lengths.push(length);
        for (word, count) in entry.counts {
            self.places.entry(word).or_default().push((place, count));
        }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// The entries that have a word of the query, the best first, at most `limit`. Of equal ones the
    /// one that was added first comes first. A word of four letters or more also finds words that it
    /// begins, which count half. Of a query the first 32 different words count.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        let mut asked: Vec<String> = Vec::new();
        for word in words(query).take(MOST_WORDS) {
            if asked.len() < MOST_ASKED && !asked.contains(&word) {
                asked.push(word);
            }
        }
        let mut scores = vec![0.0; self.lengths.len()];
        for word in &asked {
            self.score(word, &mut scores);
        }
        let found = scores.iter().enumerate().filter(|(_, score)| **score > 0.0);
        let mut hits: Vec<Hit> = found
            .map(|(place, score)| Hit {
                place,
                score: *score,
            })
            .collect();
        hits.sort_by(|one, other| {
            let better = other.score.total_cmp(&one.score);
            better.then(one.place.cmp(&other.place))
        });
        hits.truncate(limit);
        hits
    }

    /// Adds what one word of a query is worth to each entry.
    fn score(&self, word: &str, scores: &mut [f64]) {
        if let Some(places) = self.places.get(word) {
            self.add_scores(places, 1.0, scores);
        }
        if word.chars().count() < 4 {
            return;
        }
        // In order, so that the sums are the same each time to the last bit.
        let begun = self.places.keys().filter(|it| it.starts_with(word));
        let mut begun: Vec<&String> = begun.filter(|it| it.as_str() != word).collect();
        begun.sort_unstable();
        for longer in begun {
            if let Some(places) = self.places.get(longer) {
                self.add_scores(places, 0.5, scores);
            }
        }
    }

    fn add_scores(&self, places: &[(usize, u32)], share: f64, scores: &mut [f64]) {
        let total = as_number(self.lengths.len());
        let having = as_number(places.len());
        let rareness = (1.0 + (total - having + 0.5) / (having + 0.5)).ln();
        let all: f64 = self.lengths.iter().map(|length| f64::from(*length)).sum();
        let average = (all / total.max(1.0)).max(1.0);
        for (place, count) in places {
            let length = f64::from(self.lengths.get(*place).copied().unwrap_or_default());
            let count = f64::from(*count);
            let slowed = SATURATION * (1.0 - LENGTH + LENGTH * length / average);
            let worth = rareness * count * (SATURATION + 1.0) / (count + slowed);
            if let Some(score) = scores.get_mut(*place) {
                *score += share * worth;
            }
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "there are far fewer entries than 2^52"
)]
fn as_number(count: usize) -> f64 {
    count as f64
}

/// The words of one entry while it is read.
#[derive(Default)]
struct Entry {
    counts: HashMap<String, u32>,
}

impl Entry {
    fn read(&mut self, text: &str, weight: u32) {
        for word in words(text).take(MOST_WORDS) {
            let count = self.counts.entry(word).or_default();
            *count = count.saturating_add(weight);
        }
    }
}
