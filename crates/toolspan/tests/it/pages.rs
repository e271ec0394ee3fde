//! Do the pages about the config say what the config reader does?

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;
use toolspan::config::{Environment, Resolved};

const REFERENCE: &str = include_str!("../../../../docs/src/reference/config.md");
const STARTING: &str = include_str!("../../../../docs/src/getting-started.md");
const README: &str = include_str!("../../../../README.md");

/// The first block of a page that is JSON with comments.
fn block(page: &str) -> &str {
    let (_, rest) = page.split_once("```jsonc\n").unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn each_config_on_a_page_is_read_without_a_complaint() {
    for page in [REFERENCE, STARTING, README] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("toolspan.json");
        std::fs::write(&file, block(page)).unwrap();
        // Nobody else may read the secrets of the pages.
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        let nothing = Environment::from_pairs::<&str, &str>([]);
        let config = Resolved::from_file(Path::new(&file), &nothing).unwrap();
        assert_eq!(config.problems().next(), None);
        assert_eq!(config.warnings, []);
        assert!(!config.toolboxes.is_empty());
    }
}

#[test]
fn each_limit_and_timeout_is_in_its_table_with_its_default() {
    let schema = toolspan::config::schema();
    for table in ["limits", "timeouts"] {
        let keys = &schema["properties"][table]["properties"];
        for (key, rules) in keys.as_object().unwrap() {
            let row = format!("| `{key}` | {}", rules["default"]);
            assert!(REFERENCE.contains(&row), "no row begins with {row}");
        }
    }
}

#[test]
fn each_key_of_a_server_is_in_the_table() {
    let schema = toolspan::config::schema();
    let keys = schema["$defs"]["server"]["properties"].as_object().unwrap();
    let supported = |rules: &Value| rules["description"] != "Not supported by this version";
    for (key, _) in keys.iter().filter(|(_, rules)| supported(rules)) {
        let named = format!("`{key}`");
        let filter = format!("`{key}.include`");
        assert!(
            REFERENCE.contains(&named) || REFERENCE.contains(&filter),
            "{key} is not described"
        );
    }
}
