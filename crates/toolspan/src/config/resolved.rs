//! What does a whole config mean, once defaults, variables and limits are worked out?

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use toolspan_core::Result;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::registry::ToolSpec;

use super::bounds::{Bounds, BoundsScope};
use super::dialect;
use super::field::{Field, Table};
use super::inputs::{AskInput, Inputs};
use super::keys::{self, warn_unknown};
use super::policy::PolicyConfig;
use super::problem::{Problem, Warnings};
use super::selection::Selection;
use super::server_line;
use super::source::Source;
use super::surroundings::{ReadFiles, Surroundings};
use super::toolbox::{EntryReader, ToolboxConfig, Transport};
use super::trust::ConfigFile;
use super::url_line;
use super::{Environment, Found};

/// Most entries of `tools`.
const MOST: usize = 1_000;

/// A config with everything worked out that can be before something is started.
///
/// Its `Debug` shows no secret.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Resolved {
    /// The toolboxes in config order, also disabled and broken ones.
    pub toolboxes: Vec<ToolboxConfig>,
    /// The native tools to add, in config order.
    pub tools: Vec<ToolSpec>,
    /// Entries of `tools` that cannot be used; each is left out alone.
    pub broken_tools: Vec<Problem>,
    /// The limits of the host.
    pub limits: Limits,
    /// The timeouts of the host.
    pub timeouts: Timeouts,
    /// The rules by which calls are decided; `None` when the config says nothing.
    pub policy: Option<PolicyConfig>,
    /// Whether arguments are repaired; `None` when the config says nothing.
    pub repair: Option<bool>,
    /// What is odd but stops nothing; at most a hundred and one.
    pub warnings: Vec<Problem>,
    /// What is worth knowing when a config is checked, and surprises nobody when it is used: keys
    /// of other hosts, packages without a version. At most a hundred.
    pub notes: Vec<Problem>,
    /// The file it came from, as the caller named it.
    pub source: Option<PathBuf>,
}

impl Resolved {
    /// Reads a file: JSON with comments, at most 4 MiB. Relative directories in it start from the
    /// file's folder. An empty file, or `null`, gives no toolboxes.
    ///
    /// Fails with kind `config` when the file cannot be read, when it is no valid config as a
    /// whole, and when something is wrong in its `policy`. A bad entry of
    /// `mcpServers` or `tools` is no failure: it is in the result.
    pub fn from_file(path: &Path, environment: &Environment) -> Result<Self> {
        Self::from_file_asking(path, environment, &())
    }

    /// As [`Resolved::from_file`], and asks for the inputs that texts refer to (`${input:id}`) and
    /// that no variable gives: each once, and none for a server that is switched off.
    pub fn from_file_asking(
        path: &Path,
        environment: &Environment,
        asker: &dyn AskInput,
    ) -> Result<Self> {
        ConfigFile::read(Found::named(path), environment)?.resolve(environment, asker)
    }

    /// What a program starts that is given a config file or none: reads the file, or without one that
    /// which [`find`](super::find) finds; `None` when there is none.
    ///
    /// # Errors
    ///
    /// As [`ConfigFile::resolve_trusted`], and as [`ConfigFile::refuse_insecure`].
    pub fn to_start(explicit: Option<&Path>, environment: &Environment) -> Result<Option<Self>> {
        let Some(found) = super::find(explicit, environment)? else {
            return Ok(None);
        };
        let file = ConfigFile::read(found, environment)?;
        file.refuse_insecure()?;
        file.resolve_trusted(environment, &()).map(Some)
    }

    /// Reads the text of a file, and notes the files that are read with it.
    pub(super) fn from_source(
        source: &Source<'_>,
        environment: &Environment,
        asker: &dyn AskInput,
        files: &ReadFiles,
    ) -> Result<Self, Problem> {
        let absolute = environment.absolute(source.file().unwrap_or(Path::new("")));
        let surroundings = Surroundings::of_file(&absolute, environment)
            .asking(asker)
            .noting(files);
        Self::read(source, surroundings)
    }

    /// Reads a config that a caller holds as JSON. As [`Resolved::from_file`], but problems name
    /// no line, and relative directories start from the current one.
    pub fn from_value(value: &Value, environment: &Environment) -> Result<Self> {
        if toolspan_core::guard::depth::exceeds(value, super::source::DEEPEST) {
            return Err(super::source::too_deep().into());
        }
        let text = value.to_string();
        let surroundings = Surroundings::of_value(environment);
        Ok(Self::read(&Source::new(None, &text), surroundings)?)
    }

    /// Makes a toolbox from each command line, such as `uvx mcp-server-time`.
    ///
    /// A line is split into words as a shell would do it, quotes and backslashes included, but no
    /// shell runs it and nothing in it is filled in. `NAME=value` before the program sets a
    /// variable. A toolbox is named after its program or package; `-2` and so on tells equal names
    /// apart. Fails with kind `usage`.
    pub fn from_server_lines<L: AsRef<str>>(lines: &[L]) -> Result<Self> {
        let toolboxes = server_line::toolboxes(lines.iter().map(AsRef::as_ref))?;
        Ok(Self {
            toolboxes,
            ..Self::default()
        })
    }

    /// Adds a toolbox for each URL of a server, such as `https://example.com/mcp`.
    ///
    /// Each request to them carries the headers, each written as `Name: value`. Nothing is filled in.
    /// A toolbox is named after the path or the host of its URL; `-2` and so on tells equal names
    /// apart. Fails with kind `usage`, also when there are headers and the URLs are of different
    /// servers.
    pub fn with_urls<U: AsRef<str>, H: AsRef<str>>(
        mut self,
        urls: &[U],
        headers: &[H],
    ) -> Result<Self> {
        let headers = headers
            .iter()
            .map(|header| url_line::header(header.as_ref()));
        let headers = headers.collect::<Result<Vec<_>>>()?;
        let servers = urls
            .iter()
            .map(|url| url_line::server(url.as_ref(), &headers));
        let servers = servers.collect::<Result<Vec<_>>>()?;
        url_line::check_headers(&headers, &servers)?;
        for server in servers {
            self.warnings.extend(url_line::warning(&server));
            let key = server_line::free_key(url_line::name(&server.url), &self.toolboxes);
            let toolbox = ToolboxConfig::new(key, Transport::Remote(server));
            self.toolboxes.push(toolbox);
        }
        Ok(self)
    }

    /// Everything in it that disables something: what `config check` fails on. A disabled toolbox
    /// may be as broken as it likes.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        let enabled = self.toolboxes.iter().filter(|toolbox| !toolbox.disabled);
        enabled
            .filter_map(|toolbox| toolbox.transport.as_ref().err())
            .chain(&self.broken_tools)
    }

    fn read(source: &Source<'_>, surroundings: Surroundings<'_>) -> Result<Self, Problem> {
        let mut resolved = Self {
            source: source.file().map(Path::to_owned),
            ..Self::default()
        };
        let Some(value) = source.parse()? else {
            return Ok(resolved);
        };
        let root = Field::root(source, &value);
        if root.is_null() {
            return Ok(resolved);
        }
        let table = root
            .table()
            .map_err(|problem| problem.with_hint("a config is an object: {\"mcpServers\": {…}}"))?;
        let mut warnings = Warnings::default();
        resolved.read_top(&table, surroundings, &mut warnings)?;
        (resolved.warnings, resolved.notes) = warnings.finish();
        Ok(resolved)
    }

    fn read_top(
        &mut self,
        table: &Table<'_>,
        surroundings: Surroundings<'_>,
        warnings: &mut Warnings,
    ) -> Result<(), Problem> {
        let mut bounds = Bounds::default();
        let mut inputs = Inputs::none(&surroundings);
        let mut selection = Selection::default();
        if !dialect::is_flat(table) {
            let known = keys::TOP.iter().copied().chain([keys::SCHEMA]);
            PolicyConfig::refuse_slips(table, known.clone())?;
            warn_unknown(table, known, keys::TOP_OTHERS, warnings);
            bounds.read(table, BoundsScope::Host, warnings)?;
            let policy = table.get("policy");
            let policy = policy.map(|field| PolicyConfig::read(&field, warnings));
            self.policy = policy.transpose()?;
            let repair = table.get("repair");
            self.repair = repair.map(|field| field.flag()).transpose()?;
            if let Some(described) = table.get("inputs") {
                inputs.read(&described, warnings)?;
            }
            if let Some(lists) = table.get("mcp") {
                selection = Selection::read(&lists, warnings);
            }
        }
        let entries = dialect::entries(table)?;
        let mut reader = EntryReader {
            bounds: &bounds,
            surroundings,
            inputs: &inputs,
            selection: &selection,
            warnings,
        };
        self.toolboxes = entries.iter().map(|entry| reader.read(entry)).collect();
        if let Some(tools) = table.get("tools") {
            self.read_tools(&tools, warnings)?;
        }
        self.limits = bounds.limits;
        self.timeouts = bounds.timeouts;
        Ok(())
    }

    fn read_tools(&mut self, field: &Field<'_>, warnings: &mut Warnings) -> Result<(), Problem> {
        for (index, item) in field.items()?.enumerate() {
            field.refuse_over(MOST, index + 1)?;
            match read_tool(&item, warnings) {
                Ok(tool) => self.tools.push(tool),
                Err(problem) => self.broken_tools.push(problem),
            }
        }
        Ok(())
    }
}

fn read_tool(field: &Field<'_>, warnings: &mut Warnings) -> Result<ToolSpec, Problem> {
    let table = field.table()?;
    warn_unknown(&table, keys::TOOL.iter().copied(), &[], warnings);
    let name = match table.get("name") {
        Some(name) => name.text()?,
        None => {
            return Err(field
                .problem("\"name\" is missing")
                .with_hint("name the tool to add"));
        }
    };
    if name.is_empty() {
        return Err(field.problem("the name of the tool is empty"));
    }
    let params = match table.get("params") {
        None => Map::new(),
        Some(params) => match params.to_json()? {
            Value::Object(members) => members,
            _ => return Err(params.wrong_type("an object")),
        },
    };
    Ok(ToolSpec::new(name, params))
}
