//! Which tools of a toolbox are taken, by the names that its server gives them?

use std::fmt;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use super::field::{Field, Table};
use super::keys::{self, warn_unknown};
use super::problem::{Problem, Warnings};

/// Most patterns in one list.
const MOST: usize = 1_000;
/// Longest pattern, in bytes; no name of a tool that models take is longer than 64.
const LONGEST: usize = 256;

/// Takes the tools that `include` matches and `exclude` does not, by their own names, without the
/// toolbox's prefix. In a pattern `*` is any text, `?` one character, `[ab]` one of these,
/// `{get,list}_*` either. Case matters.
#[derive(Clone, Default)]
pub struct ToolFilter {
    /// `None` takes all; an empty list takes none.
    include: Option<Patterns>,
    exclude: Patterns,
}

impl ToolFilter {
    /// Whether a tool with this name is taken.
    pub fn allows(&self, name: &str) -> bool {
        let included = self
            .include
            .as_ref()
            .is_none_or(|include| include.set.is_match(name));
        included && !self.exclude.set.is_match(name)
    }

    /// The patterns of `include` as they are written; `None` takes all tools.
    pub fn include(&self) -> Option<&[String]> {
        self.include
            .as_ref()
            .map(|include| include.texts.as_slice())
    }

    /// The patterns of `exclude` as they are written.
    pub fn exclude(&self) -> &[String] {
        &self.exclude.texts
    }

    /// Reads a server's `tools`: `{"include": […], "exclude": […]}`, or a list to include.
    pub(super) fn read(field: &Field<'_>, warnings: &mut Warnings) -> Result<Self, Problem> {
        if field.is_list() {
            let include = Some(Patterns::read(field)?);
            return Ok(Self {
                include,
                exclude: Patterns::default(),
            });
        }
        let table = field.table()?;
        warn_unknown(&table, keys::FILTER.iter().copied(), &[], warnings);
        let read = |key| {
            table
                .get(key)
                .map(|field| Patterns::read(&field))
                .transpose()
        };
        let filter = Self {
            include: read("include")?,
            exclude: read("exclude")?.unwrap_or_default(),
        };
        if filter.include().is_some_and(<[String]>::is_empty) {
            warnings.add(|| {
                field
                    .problem("\"include\" is an empty list, so no tool of this toolbox is taken")
                    .with_hint("remove \"include\" to take all")
            });
        }
        Ok(filter)
    }
}

impl ToolFilter {
    /// Takes in what other programs call `includeTools`, `excludeTools` and `disabledTools`: lists
    /// of names, not of patterns.
    pub(super) fn read_names(&mut self, table: &Table<'_>) -> Result<(), Problem> {
        if let Some(names) = table.get("includeTools") {
            if self.include.is_some() {
                let message = "the tools to include are set in \"tools\", too";
                return Err(names.problem(message).with_hint("keep one"));
            }
            self.include = Some(Patterns::default().with_names(&names)?);
        }
        for key in ["excludeTools", "disabledTools"] {
            if let Some(names) = table.get(key) {
                self.exclude = std::mem::take(&mut self.exclude).with_names(&names)?;
            }
        }
        Ok(())
    }
}

impl PartialEq for ToolFilter {
    fn eq(&self, other: &Self) -> bool {
        self.include() == other.include() && self.exclude() == other.exclude()
    }
}

impl Eq for ToolFilter {}

impl fmt::Debug for ToolFilter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolFilter")
            .field("include", &self.include())
            .field("exclude", &self.exclude())
            .finish()
    }
}

/// Patterns as they were written and as one matcher.
#[derive(Clone, Default)]
struct Patterns {
    texts: Vec<String>,
    set: GlobSet,
}

impl Patterns {
    fn read(field: &Field<'_>) -> Result<Self, Problem> {
        Self::default().with(field, str::to_owned)
    }

    /// These patterns and ones that match the names in a list, letter by letter.
    fn with_names(self, field: &Field<'_>) -> Result<Self, Problem> {
        self.with(field, globset::escape)
    }

    fn with(
        mut self,
        field: &Field<'_>,
        pattern: impl Fn(&str) -> String,
    ) -> Result<Self, Problem> {
        for item in field.items()? {
            let text = item.text()?;
            if self.texts.len() == MOST {
                return Err(field.problem(format!("this list has more than {MOST} patterns")));
            }
            if text.is_empty() || text.len() > LONGEST {
                return Err(item.problem(format!("a pattern has 1 to {LONGEST} characters")));
            }
            let text = pattern(text);
            glob(&text).map_err(|error| {
                item.problem(format!("this is not a pattern: {}", error.kind()))
                    .with_hint("use *, ?, [ab] and {a,b}; write a plain bracket as [[]")
            })?;
            self.texts.push(text);
        }
        let mut set = GlobSetBuilder::new();
        for text in &self.texts {
            set.add(glob(text).map_err(|_| field.problem("these patterns cannot be used"))?);
        }
        self.set = set
            .build()
            .map_err(|_| field.problem("these patterns are too large together"))?;
        Ok(self)
    }
}

fn glob(text: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(text).build()
}
