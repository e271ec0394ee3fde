//! Which arguments of a call are commands or paths, and does the call write?

use serde_json::{Map, Value};

use super::place::Place;
use super::shell::Script;

/// What an argument is, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// A text for a shell, or a list of words.
    Command,
    /// Further words of the command beside it.
    Words,
    /// Code of some language.
    Code,
    Path,
    /// The path that is read where another is written.
    Source,
    /// The folder that something happens in.
    Folder,
    /// What is written.
    Content,
    Other,
}

/// A command or path of a call.
pub(super) enum Piece<'a> {
    /// The text and what it runs.
    Command(&'a str, Box<Script>),
    Code(&'a str),
    Path {
        text: &'a str,
        writes: bool,
        deletes: bool,
    },
}

/// Calls `take` for every command and path of a call, until it gives false. Looks at each argument
/// once; where none is named like a command or a path, nothing else is done, and no memory is taken.
pub(super) fn each<'a>(
    tool: &str,
    arguments: &'a Map<String, Value>,
    take: &mut dyn FnMut(Piece<'a>) -> bool,
) {
    let looks = arguments
        .values()
        .any(|value| !matches!(value, Value::Null | Value::Bool(_) | Value::Number(_)));
    if looks {
        Visit {
            call: (tool, arguments),
            does: None,
            take,
            goes_on: true,
        }
        .object(arguments);
    }
}

/// What a call does to the paths it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Does {
    writes: bool,
    deletes: bool,
    /// The path that is read is written, too: it is moved away.
    moves: bool,
}

const WRITING: &[&str] = &[
    "write",
    "edit",
    "create",
    "delete",
    "remove",
    "move",
    "rename",
    "copy",
    "append",
    "patch",
    "update",
    "set",
    "insert",
    "replace",
    "save",
    "put",
    "download",
    "mkdir",
    "make",
    "touch",
    "truncate",
    "chmod",
    "install",
    "apply",
    "add",
    "unlink",
    "rm",
    "mv",
    "cp",
    "store",
    "export",
    "dump",
    "sync",
    "extract",
    "unzip",
    "modify",
    "overwrite",
    "undo",
    "erase",
    "clear",
    "str",
];
const DELETING: &[&str] = &[
    "delete", "remove", "unlink", "rm", "rmdir", "erase", "wipe", "clear",
];
const READING: &[&str] = &[
    "read",
    "get",
    "list",
    "ls",
    "view",
    "show",
    "search",
    "find",
    "grep",
    "glob",
    "stat",
    "head",
    "tail",
    "cat",
    "tree",
    "info",
    "describe",
    "exists",
    "count",
    "hash",
    "diff",
    "open",
    "lookup",
    "load",
    "check",
    "status",
    "look",
    "inspect",
    "print",
    "fetch",
    "query",
    "directory",
];

impl Does {
    /// By the verb that the call or the tool names. A lying server needs no argument to do harm, so
    /// that its tools' names are believed here; without a verb a call counts as one that writes.
    fn of(tool: &str, arguments: &Map<String, Value>) -> Self {
        let verb = ["command", "action", "operation", "mode", "method"]
            .iter()
            .filter_map(|key| arguments.get(*key).and_then(Value::as_str))
            .find(|verb| verb.len() <= 32 && !verb.contains([' ', '/']) && has_verb(verb));
        let name = verb.unwrap_or(tool);
        let is = |verbs: &[&str]| words(name).any(|word| verbs.contains(&word.as_str()));
        let has_content = || {
            arguments
                .iter()
                .any(|(key, value)| !value.is_null() && role(key) == Role::Content)
        };
        let writes = is(WRITING) || !is(READING) || verb.is_none() && has_content();
        Self {
            writes,
            deletes: is(DELETING),
            moves: is(&["move", "rename", "mv"]) || is(DELETING),
        }
    }
}

fn has_verb(text: &str) -> bool {
    words(text).any(|word| WRITING.contains(&word.as_str()) || READING.contains(&word.as_str()))
}

/// The words of a name such as `readFile` or `read_file`, in small letters; at most 16.
fn words(name: &str) -> impl Iterator<Item = String> {
    let mut found: Vec<String> = Vec::new();
    let mut before = ' ';
    for char in name.chars().take(128) {
        let starts = !before.is_alphanumeric() || before.is_lowercase() && char.is_uppercase();
        before = char;
        if !char.is_alphanumeric() {
            continue;
        }
        if starts || found.is_empty() {
            found.push(String::new());
        }
        if let Some(word) = found.last_mut() {
            word.extend(char.to_lowercase());
        }
    }
    found.into_iter().take(16)
}

/// The longest name, in bytes, that says what an argument is.
const LONGEST_NAME: usize = 64;

/// The role of an argument of this name. Takes no memory, since every call asks for each of its names.
fn role(key: &str) -> Role {
    if key.len() > LONGEST_NAME {
        return Role::Other;
    }
    let bare = key.chars().filter(|char| char.is_alphanumeric());
    let mut room = [0; LONGEST_NAME];
    let mut length = 0;
    // In small letters a name has no more characters than it had bytes.
    for (place, char) in room.iter_mut().zip(bare.flat_map(char::to_lowercase)) {
        // The names below are ASCII: whatever is not, makes another name of it.
        *place = if char.is_ascii() { char as u8 } else { b'?' };
        length += 1;
    }
    let bare = room.get(..length).map(std::str::from_utf8);
    match bare.and_then(Result::ok).unwrap_or_default() {
        "command" | "commands" | "cmd" | "cmds" | "commandline" | "shellcommand" | "shell"
        | "bash" | "run" | "exec" | "execute" | "argv" | "script" | "program" | "executable" => {
            Role::Command
        }
        "args" | "arguments" | "parameters" | "params" => Role::Words,
        "code" | "sourcecode" | "python" | "javascript" | "snippet" | "expression" => Role::Code,
        "cwd" | "workdir" | "workingdirectory" | "workingdir" => Role::Folder,
        "source" | "src" | "from" | "oldpath" | "sourcepath" | "srcpath" | "frompath" | "input"
        | "inputpath" | "inputfile" => Role::Source,
        "content" | "contents" | "filetext" | "newstr" | "newtext" | "newstring" | "newcontent"
        | "edits" | "patch" | "body" | "data" | "text" | "insertline" => Role::Content,
        "to" | "dest" | "destination" | "target" | "output" | "out" | "uri" | "outfile"
        | "location" | "folder" | "directory" | "dir" => Role::Path,
        bare => {
            let ends = [
                "path",
                "paths",
                "file",
                "files",
                "filename",
                "filepath",
                "directory",
                "dir",
                "folder",
                "uri",
            ];
            match ends.iter().any(|end| bare.ends_with(end)) {
                true => Role::Path,
                false => Role::Other,
            }
        }
    }
}

struct Visit<'t, 'a> {
    /// The tool's own name, and all arguments.
    call: (&'t str, &'a Map<String, Value>),
    /// Found out for the first path, since most calls have none.
    does: Option<Does>,
    take: &'t mut dyn FnMut(Piece<'a>) -> bool,
    goes_on: bool,
}

impl<'a> Visit<'_, 'a> {
    /// One object. Recurses as deep as the arguments were checked to nest (`limits.json_depth`).
    fn object(&mut self, members: &'a Map<String, Value>) {
        let folder = || {
            let folders = members.iter().filter(|(key, _)| role(key) == Role::Folder);
            folders.filter_map(|(_, value)| value.as_str()).next()
        };
        for (key, value) in members {
            if !self.goes_on {
                return;
            }
            match value {
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
                Value::Object(inner) => self.object(inner),
                Value::String(text) => match role(key) {
                    Role::Command => {
                        self.command(text, folder());
                        self.program(text, members, folder());
                    }
                    other => self.text(text, other),
                },
                Value::Array(items) => match role(key) {
                    Role::Command => {
                        let several = key.ends_with(['s', 'S']) || items.len() == 1;
                        self.list(items, several, folder());
                    }
                    other => self.items(items, other),
                },
            }
        }
    }

    fn items(&mut self, items: &'a [Value], role: Role) {
        for item in items {
            match item {
                Value::String(text) => self.text(text, role),
                Value::Object(inner) => self.object(inner),
                Value::Array(inner) => self.items(inner, role),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
            if !self.goes_on {
                return;
            }
        }
    }

    fn text(&mut self, text: &'a str, role: Role) {
        let piece = match role {
            Role::Code => Piece::Code(text),
            Role::Path => {
                let does = self.does();
                Piece::Path {
                    text,
                    writes: does.writes,
                    deletes: does.deletes,
                }
            }
            Role::Source => {
                let does = self.does();
                Piece::Path {
                    text,
                    writes: does.writes && does.moves,
                    deletes: does.moves,
                }
            }
            Role::Command | Role::Words | Role::Folder | Role::Content | Role::Other => return,
        };
        self.give(piece);
    }

    fn does(&mut self) -> Does {
        let (tool, arguments) = self.call;
        *self.does.get_or_insert_with(|| Does::of(tool, arguments))
    }

    fn give(&mut self, piece: Piece<'a>) {
        self.goes_on = self.goes_on && (self.take)(piece);
    }

    /// A text that a shell may be given.
    fn command(&mut self, text: &'a str, folder: Option<&str>) {
        let script = Script::read(text, folder.map(|folder| Place::new(folder, None)));
        self.give(Piece::Command(text, Box::new(script)));
    }

    /// A program whose words stand beside it.
    fn program(&mut self, text: &'a str, members: &'a Map<String, Value>, folder: Option<&str>) {
        let beside = members.iter().filter(|(key, _)| role(key) == Role::Words);
        let mut lists = beside.filter_map(|(_, value)| value.as_array());
        if let Some(list) = lists.next() {
            let more = list.iter().filter_map(Value::as_str).map(str::to_owned);
            let words = std::iter::once(text.to_owned()).chain(more).collect();
            self.words(text, words, folder);
        }
    }

    /// A list: the words of one command, or several commands.
    fn list(&mut self, items: &'a [Value], several: bool, folder: Option<&str>) {
        let texts = || items.iter().filter_map(Value::as_str);
        let words: Vec<String> = texts().map(str::to_owned).collect();
        if let Some(first) = texts().next() {
            self.words(first, words, folder);
        }
        for text in texts().filter(|_| several) {
            self.command(text, folder);
        }
        self.items(items, Role::Command);
    }

    fn words(&mut self, text: &'a str, words: Vec<String>, folder: Option<&str>) {
        let folder = folder.map(|folder| Place::new(folder, None));
        self.give(Piece::Command(
            text,
            Box::new(Script::of_words(words, folder)),
        ));
    }
}
