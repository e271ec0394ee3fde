//! How is a server started that talks over its standard input and output?

use std::fmt;
use std::path::{Path, PathBuf};

use toolspan_core::guard::Secret;
use toolspan_core::guard::secret::names_a_secret;
use toolspan_io::process::{COOKIE_VARIABLE, InheritEnv};

use super::Environment;
use super::expand;
use super::field::{Field, Table};
use super::keys::{did_you_mean, nearest};
use super::problem::{Problem, member_path};
use super::secrets::Collected;
use super::surroundings::{Filling, Surroundings};

/// Most arguments of a server. What is looked for in each grows with their number.
const MOST_ARGUMENTS: usize = 4_096;
/// Most variables that are set for a server.
const MOST_VARIABLES: usize = 1_024;

/// What to start. No shell is involved. `Debug` shows no argument and no variable's value.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StdioServer {
    /// The program: a name to look for in `PATH`, or a path; one that is written as a relative path
    /// starts from the config's folder. Never empty.
    pub command: String,
    /// Its arguments, variables filled in.
    pub args: Vec<String>,
    /// Variables set for it, in config order, variables filled in.
    pub env: Vec<(String, String)>,
    /// Its directory; one that is written as a relative path starts from the config's folder.
    pub cwd: Option<PathBuf>,
    /// Which variables of the environment it gets besides.
    pub inherit_env: InheritEnv,
    /// Values it is given that are secrets: those of variables, of `env` keys and of options whose
    /// names say so, and passwords in URLs. For redacting; none is empty.
    pub secrets: Vec<Secret>,
}

impl StdioServer {
    /// A server that is this program, without arguments, in a safe environment.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            inherit_env: InheritEnv::Safe,
            secrets: Vec::new(),
        }
    }

    /// Sets the arguments.
    #[must_use]
    pub fn with_args<A: Into<String>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the variables that are set for it.
    #[must_use]
    pub fn with_env<K, V>(mut self, env: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<String>,
        V: Into<String>,
    {
        self.env = env
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        self
    }

    /// The arguments, to be looked at.
    pub(super) fn words(&self) -> Vec<&str> {
        self.args.iter().map(String::as_str).collect()
    }

    /// Sets the secrets to what arguments and variables say by their names alone.
    #[must_use]
    pub(super) fn with_secrets_by_name(mut self) -> Self {
        let mut secrets = Collected::default();
        self.add_secrets_by_name(&mut secrets);
        self.secrets = secrets.finish();
        self
    }

    fn add_secrets_by_name(&self, secrets: &mut Collected) {
        secrets.add_arguments(&self.args);
        for (name, value) in &self.env {
            if names_a_secret(name) {
                secrets.add(value);
            }
            secrets.add_passwords(value);
        }
    }
}

impl fmt::Debug for StdioServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.env.iter().map(|(name, _)| name.as_str()).collect();
        formatter
            .debug_struct("StdioServer")
            .field("command", &self.command)
            .field("args", &self.args.len())
            .field("env", &names)
            .field("cwd", &self.cwd)
            .field("inherit_env", &self.inherit_env)
            .field("secrets", &self.secrets.len())
            .finish()
    }
}

/// Reads the keys of a server that is started. `command` is its member of that name.
pub(super) fn read(
    table: &Table<'_>,
    command: &Field<'_>,
    filling: &mut Filling<'_, '_>,
) -> Result<StdioServer, Problem> {
    let mut server = StdioServer::new(read_command(command, &filling.surroundings)?);
    if let Some(args) = table.get("args") {
        for arg in args.items()? {
            args.refuse_over(MOST_ARGUMENTS, server.args.len() + 1)?;
            server.args.push(filling.text(&arg)?);
        }
    }
    if let Some(env) = table.get("env") {
        server.env = read_env(&env, filling)?;
    }
    if let Some(path) = table.get("envFile") {
        let own = std::mem::take(&mut server.env);
        let is_own = |name: &str| own.iter().any(|(known, _)| known == name);
        server.env = read_env_file(&path, filling)?;
        server.env.retain(|(name, _)| !is_own(name));
        server.env.extend(own);
    }
    if let Some(cwd) = table.get("cwd") {
        server.cwd = Some(filling.path(&cwd, "folder")?);
    }
    if let Some(inherit) = table.get("inherit_env") {
        server.inherit_env = read_inherit(&inherit)?;
    }
    let secrets = &mut filling.secrets;
    server.add_secrets_by_name(secrets);
    add_inherited(
        &server.inherit_env,
        filling.surroundings.environment,
        secrets,
    );
    server.secrets = std::mem::take(secrets).finish();
    Ok(server)
}

fn read_env(
    env: &Field<'_>,
    filling: &mut Filling<'_, '_>,
) -> Result<Vec<(String, String)>, Problem> {
    let table = env.table()?;
    env.refuse_over(MOST_VARIABLES, table.len())?;
    let mut variables = Vec::new();
    for (name, value) in table.entries() {
        let value = value.named(variable_path(env.path(), name));
        check_name(name).map_err(|message| value.problem(message))?;
        variables.push((name.to_owned(), filling.value(&value)?));
    }
    Ok(variables)
}

/// The variables of the file that `envFile` names. Any of them may be a secret, so all are.
fn read_env_file(
    field: &Field<'_>,
    filling: &mut Filling<'_, '_>,
) -> Result<Vec<(String, String)>, Problem> {
    let path = filling.path(field, "file")?;
    let variables = filling
        .read_variables(&path)
        .map_err(|problem| field.problem(problem.message.replacen("the config", "the file", 1)))?;
    for (name, value) in &variables {
        check_name(name).map_err(|message| field.problem(message))?;
        filling.secrets.add(value);
    }
    Ok(variables)
}

/// The program. Its text is not repeated in problems, since whole command lines end up here.
fn read_command(field: &Field<'_>, surroundings: &Surroundings<'_>) -> Result<String, Problem> {
    const SPLIT: &str = "put the program in \"command\" and the rest in \"args\"";
    if field.is_list() {
        return Err(field.wrong_type("a string").with_hint(SPLIT));
    }
    let command = field.text()?;
    if command.trim().is_empty() {
        return Err(field.problem("the command is empty"));
    }
    if command.contains('\0') {
        return Err(field.problem("there is a NUL character in the text"));
    }
    // A plain `$` was never special in here and stays as it is.
    let command = match command.contains("${") {
        true => {
            expand::program(command, surroundings)
                .map_err(|error| error.at(field))?
                .text
        }
        false => command.to_owned(),
    };
    let command = from_folder(command, surroundings.folder);
    if command.contains(char::is_whitespace) && !is_program(&command, surroundings.environment) {
        let message =
            "there is no program of this name; a command is one word, and no shell reads it";
        return Err(field.problem(message).with_hint(SPLIT));
    }
    Ok(command)
}

/// A program that is a relative path, seen from the config's folder: what is started must not depend
/// on the folder that somebody happens to be in, which may be a stranger's.
fn from_folder(command: String, folder: Option<&Path>) -> String {
    let Some(folder) = folder.filter(|_| command.contains('/')) else {
        return command;
    };
    let path = folder.join(command.strip_prefix("./").unwrap_or(&command));
    path.into_os_string().into_string().unwrap_or(command)
}

/// Whether a file of this name is where a program is looked for.
fn is_program(command: &str, environment: &Environment) -> bool {
    if command.contains('/') {
        return environment.absolute(Path::new(command)).is_file();
    }
    let path = environment.variable("PATH").unwrap_or_default();
    std::env::split_paths(path).any(|folder| folder.join(command).is_file())
}

/// The key path of a variable. A name with `=` is cut there: a value may stand behind it.
fn variable_path(parent: &str, name: &str) -> String {
    match name.split_once('=') {
        Some((before, _)) => member_path(parent, &format!("{before}=…")),
        None => member_path(parent, name),
    }
}

fn check_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        Err("a variable's name cannot be empty")
    } else if name.contains('=') {
        Err("a variable's name cannot have `=` in it")
    } else if name.contains('\0') {
        Err("a variable's name cannot have a NUL character in it")
    } else if name == COOKIE_VARIABLE {
        Err("this variable is set for each server and cannot be given")
    } else {
        Ok(())
    }
}

fn read_inherit(field: &Field<'_>) -> Result<InheritEnv, Problem> {
    const WORDS: [&str; 3] = ["safe", "none", "all"];
    if field.is_list() {
        let mut names = Vec::new();
        for item in field.items()? {
            field.refuse_over(MOST_VARIABLES, names.len() + 1)?;
            let name = item.text()?;
            check_name(name).map_err(|message| item.problem(message))?;
            names.push(name.to_owned());
        }
        return Ok(InheritEnv::Names(names));
    }
    if !field.is_text() {
        return Err(field.wrong_type("\"safe\", \"none\", \"all\" or a list of names"));
    }
    match field.text()? {
        "safe" => Ok(InheritEnv::Safe),
        "none" => Ok(InheritEnv::None),
        "all" => Ok(InheritEnv::All),
        other => {
            let hint = nearest(other, WORDS).map_or_else(
                || "to inherit one variable, write a list: [\"NAME\"]".to_owned(),
                did_you_mean,
            );
            let message = "this must be \"safe\", \"none\", \"all\" or a list of names";
            Err(field.problem(message).with_hint(hint))
        }
    }
}

/// Adds the values of secret variables that are inherited by name or all together.
fn add_inherited(inherit: &InheritEnv, environment: &Environment, secrets: &mut Collected) {
    let inherited = environment.variables().iter().filter_map(|(name, value)| {
        let (name, value) = (name.to_str()?, value.to_str()?);
        let is_inherited = match inherit {
            InheritEnv::All => true,
            InheritEnv::Names(names) => names.iter().any(|wanted| wanted == name),
            _ => false,
        };
        is_inherited.then_some((name, value))
    });
    for (name, value) in inherited {
        if names_a_secret(name) {
            secrets.add(value);
        }
        secrets.add_passwords(value);
    }
}
