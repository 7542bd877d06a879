//! Resolves the layers of the settings: built-in < config.toml < BOWER_* < --set.
//! Every value records the layer that it came from. An unknown key or a bad value is an error that names its location;
//! it is never ignored.

use bower_core::config::Settings;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Hint, Result};

mod edit;
mod knob;
mod profiles;
pub mod table;

use knob::typed;
use table::knobs;

pub use table::known;

/// The settings file inside the home.
pub const FILE: &str = "config.toml";

/// Source of a value, weakest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The engine's default.
    BuiltIn,
    /// The settings file.
    File(PathBuf),
    /// An environment variable.
    Environment(String),
    /// A flag.
    Flag(&'static str),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built-in"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Environment(variable) => f.write_str(variable),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}

impl Serialize for Origin {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The value of a setting after all layers, with its source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chosen {
    /// Name of the setting.
    pub key: &'static str,
    pub value: Value,
    /// The strongest layer that sets it.
    pub origin: Origin,
    /// One line that says what it does.
    pub meaning: &'static str,
}

/// The folder that holds everything, with the source of its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// Path of the folder.
    pub path: PathBuf,
    /// Source of the path.
    pub origin: Origin,
}

impl Home {
    /// Finds the home: `--home`, else `BOWER_HOME`, else `.bowerbird` in the user's home folder. A relative path is
    /// made absolute.
    pub fn find(flag: Option<&Path>, variable: Option<&OsStr>, user: Option<PathBuf>) -> Result<Self> {
        let (path, origin) = match (flag, variable.filter(|value| !value.is_empty())) {
            (Some(path), _) => (path.to_path_buf(), Origin::Flag("--home")),
            (None, Some(path)) => (PathBuf::from(path), Origin::Environment("BOWER_HOME".into())),
            (None, None) => match user.filter(|path| !path.as_os_str().is_empty()) {
                Some(path) => (path.join(".bowerbird"), Origin::BuiltIn),
                None => {
                    return Err(Failure::environment(
                        "cannot tell where your home folder is",
                        Hint::person("name the folder to use with --home or BOWER_HOME"),
                    ));
                }
            },
        };
        if path.as_os_str().is_empty() {
            return Err(Failure::usage("--home: the folder's name is empty", "name a folder"));
        }
        let path = std::path::absolute(&path).map_err(|source| {
            Failure::environment(
                format!("cannot find {}: {source}", path.display()),
                "name a folder that exists",
            )
        })?;
        Ok(Self { path, origin })
    }

    /// Returns the path of the settings file.
    pub fn config(&self) -> PathBuf {
        self.path.join(FILE)
    }

    /// Returns the default folder of the models.
    pub fn models(&self) -> PathBuf {
        self.path.join("models")
    }
}

/// Unparsed input of the layers.
#[derive(Debug, Default)]
pub struct Layers<'a> {
    /// Path and text of the settings file, if it exists.
    pub file: Option<(&'a Path, &'a str)>,
    /// Environment variables; only names that begin with `BOWER_` are read.
    pub environment: &'a [(OsString, OsString)],
    /// Arguments of `--set`.
    pub flags: &'a [String],
}

/// The settings after all layers, with the source of each.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The settings in the engine's type.
    pub settings: Settings,
    /// Each setting with its source, in the order of the table.
    pub chosen: Vec<Chosen>,
    /// Names of earlier versions that a layer used, each with the present name.
    pub renamed: Vec<(String, String)>,
    /// Settings of earlier versions in the file that have no effect any more.
    pub retired: Vec<String>,
}

/// Resolves the layers; a stronger one overrides the values of a weaker one.
pub fn resolve(layers: &Layers<'_>) -> Result<Resolved> {
    let mut values: BTreeMap<&'static str, (Value, Origin)> = BTreeMap::new();
    let (mut renamed, mut retired) = (Vec::new(), Vec::new());
    if let Some((path, text)) = layers.file {
        let (read, former) = edit::read(path, text)?;
        (renamed, retired) = (former.renamed, former.retired);
        for (key, value) in read {
            values.insert(key, (value, Origin::File(path.to_path_buf())));
        }
    }
    for knob in knobs() {
        let told = |name: &str| {
            let found = layers.environment.iter().find(|(one, _)| *one == *name);
            found.map(|(_, text)| text).filter(|text| !text.is_empty())
        };
        let mut variable = knob.variable();
        let mut text = told(&variable);
        if let (None, Some(former)) = (text, knob.former_variable()) {
            text = told(&former);
            if text.is_some() {
                renamed.push((former.clone(), std::mem::replace(&mut variable, former)));
            }
        }
        let Some(text) = text else { continue };
        let value = text
            .to_str()
            .ok_or_else(|| "not valid UTF-8".to_string())
            .and_then(|text| typed(knob, text))
            .map_err(|why| Failure::environment(format!("{variable}: {why}"), unset_hint(&variable)))?;
        values.insert(knob.key, (value, Origin::Environment(variable)));
    }
    for pair in layers.flags {
        let Some((key, text)) = pair.split_once('=') else {
            return Err(Failure::usage(format!("--set {pair:?}: no = in it"), "write --set KEY=VALUE"));
        };
        let knob = known(key).map_err(|why| {
            Failure::usage(format!("--set {key}: unknown setting"), Hint::Person(why.into()))
        })?;
        if key.trim() != knob.key {
            renamed.push((key.trim().to_owned(), knob.key.to_owned()));
        }
        let value = typed(knob, text).map_err(|why| {
            Failure::usage(format!("--set {key}: {why}"), Hint::person("bower config lists them all"))
        })?;
        values.insert(knob.key, (value, Origin::Flag("--set")));
    }
    Ok(Resolved { renamed, retired, ..assemble(values)? })
}

/// Converts the strongest values to the engine's type.
fn assemble(mut values: BTreeMap<&'static str, (Value, Origin)>) -> Result<Resolved> {
    let broken =
        |why: serde_json::Error| Failure::internal(format!("settings and their table differ: {why}"));
    let defaults = defaults().map_err(broken)?;
    let chosen: Vec<Chosen> = knobs()
        .map(|knob| {
            let (value, origin) = values
                .remove(knob.key)
                .unwrap_or_else(|| (defaults.get(knob.key).cloned().unwrap_or_default(), Origin::BuiltIn));
            Chosen { key: knob.key, value, origin, meaning: knob.meaning }
        })
        .collect();
    let mut whole = Map::new();
    for Chosen { key, value, .. } in &chosen {
        match key.split_once('.') {
            None => whole.insert((*key).to_string(), value.clone()),
            Some((table, key)) => match whole.entry(table).or_insert_with(|| Map::new().into()) {
                Value::Object(table) => table.insert(key.to_string(), value.clone()),
                _ => return Err(Failure::internal(format!("{table} is a setting and a table of settings"))),
            },
        };
    }
    let settings: Settings = serde_json::from_value(Value::Object(whole)).map_err(broken)?;
    for (small, large, names) in [
        (
            settings.markdown_chunk_min,
            settings.markdown_chunk_max,
            ["markdown_chunk_min", "markdown_chunk_max"],
        ),
        (settings.text_chunk_overlap, settings.text_chunk_max, ["text_chunk_overlap", "text_chunk_max"]),
    ] {
        if small >= large {
            return Err(Failure::environment(
                format!("{} ({small}) must be less than {} ({large})", names[0], names[1]),
                Hint::person("bower config shows where each value comes from"),
            ));
        }
    }
    Ok(Resolved { settings, chosen, renamed: Vec::new(), retired: Vec::new() })
}

/// Returns the built-in values by key; keys in tables have dots.
fn defaults() -> serde_json::Result<BTreeMap<String, Value>> {
    // Serialized as text first, so that an `f32` of .3 stays .3 instead of the nearest `f64`.
    let whole: Map<String, Value> = serde_json::from_str(&serde_json::to_string(&Settings::default())?)?;
    let mut flat = BTreeMap::new();
    for (key, value) in whole {
        if let Value::Object(table) = value {
            flat.extend(table.into_iter().map(|(last, value)| (format!("{key}.{last}"), value)));
        } else {
            flat.insert(key, value);
        }
    }
    Ok(flat)
}

/// Returns the file's text with one setting changed. Comments and order stay.
pub fn set(path: &Path, text: &str, key: &str, value: &str) -> Result<String> {
    let knob = known(key).map_err(|why| Failure::usage(format!("config set {key}: unknown setting"), why))?;
    let value = typed(knob, value)
        .map_err(|why| Failure::usage(format!("config set {key}: {why}"), "bower config lists them all"))?;
    // The setting's earlier name is removed, because two names of one setting could contradict each other.
    let without = knob.former.map(|former| edit::unset(path, text, former)).transpose()?.flatten();
    edit::set(path, without.as_deref().unwrap_or(text), knob, &value)
}

/// Returns the file's text without a setting; none if the file does not contain it.
pub fn unset(path: &Path, text: &str, key: &str) -> Result<Option<String>> {
    let key = key.trim();
    // The setting may stand there under the name of an earlier version.
    let names = known(key).map_or([Some(key), None], |knob| [Some(knob.key), knob.former]);
    names.into_iter().flatten().try_fold(None, |without: Option<String>, name| {
        Ok(edit::unset(path, without.as_deref().unwrap_or(text), name)?.or(without))
    })
}

fn unset_hint(variable: &str) -> String {
    format!("change or unset {variable}")
}

#[cfg(test)]
mod tests {
    use super::knob::{Form, Knob, checked};
    use super::*;

    fn file(text: &str) -> Layers<'_> {
        Layers { file: Some((Path::new("/h/config.toml"), text)), ..Layers::default() }
    }

    fn fails(layers: &Layers<'_>, message: &str, hint: &str) {
        let failure = resolve(layers).unwrap_err();
        assert_eq!(failure.message, message);
        assert!(
            failure.hint.as_ref().is_some_and(|told| told.command().contains(hint)),
            "{:?}",
            failure.hint
        );
    }

    #[test]
    fn the_table_and_the_engine_know_the_same_settings() {
        let defaults = defaults().unwrap();
        let mut ours: Vec<_> = knobs().map(|knob| knob.key.to_string()).collect();
        let mut theirs: Vec<_> = defaults.keys().cloned().collect();
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs);
        let mut variables: Vec<_> = knobs().map(Knob::variable).collect();
        variables.sort();
        variables.dedup();
        assert_eq!(variables.len(), ours.len(), "two settings share a variable");
        for knob in knobs() {
            let default = defaults[knob.key].clone();
            assert!(
                matches!(knob.form, Form::Folder | Form::Text | Form::LanguageModel | Form::Dollars)
                    && default.is_null()
                    || checked(knob, default).is_ok(),
                "{}",
                knob.key
            );
        }
        assert_eq!(resolve(&Layers::default()).unwrap().settings, Settings::default());
    }

    #[test]
    fn a_stronger_layer_wins_and_says_so() {
        let environment = [
            ("BOWER_THREADS".into(), "3".into()),
            ("BOWER_RRF_K".into(), "7.5".into()),
            ("X".into(), "1".into()),
        ];
        let flags = ["rrf_k=9".to_string(), "sync=full".to_string()];
        let path = Path::new("/h/config.toml");
        let layers = Layers {
            file: Some((path, "threads = 2\nrrf_k = 5\nmodel = \"none\" # words\n")),
            environment: &environment,
            flags: &flags,
        };
        let resolved = resolve(&layers).unwrap();
        let got = |key: &str| {
            let chosen = resolved.chosen.iter().find(|chosen| chosen.key == key).unwrap();
            format!("{} from {}", chosen.value, chosen.origin)
        };
        assert_eq!(got("threads"), "3 from BOWER_THREADS");
        assert_eq!(got("rrf_k"), "9.0 from --set");
        assert_eq!(got("model"), "\"none\" from /h/config.toml");
        assert_eq!(got("candidates"), "128 from built-in");
        assert_eq!(got("sync"), "\"full\" from --set");
        assert_eq!(resolved.settings.threads, 3);
        assert_eq!(resolved.settings.sync, bower_core::config::Sync::Full);
    }

    #[test]
    fn a_setting_that_has_no_effect_any_more_is_named() {
        let resolved = resolve(&file("[bower]\nfit_weight = 1\nname_weight = 2\n")).unwrap();
        assert_eq!(resolved.retired, ["bower.fit_weight"]);
        assert!((resolved.settings.bower.name_weight - 2.0).abs() < 1e-6);
    }

    #[test]
    fn the_name_of_an_earlier_version_still_works() {
        let environment = [("BOWER_FOLD_AFTER".into(), "30".into())];
        let flags = ["fold_after=40".to_string()];
        let by_file = file("fold_after = 20\n");
        let layers = [
            by_file,
            Layers { environment: &environment, ..Layers::default() },
            Layers { flags: &flags, ..Layers::default() },
        ];
        for (layers, value, old) in layers
            .iter()
            .zip([20, 30, 40])
            .zip(["fold_after", "BOWER_FOLD_AFTER", "fold_after"])
            .map(|((a, b), c)| (a, b, c))
        {
            let resolved = resolve(layers).unwrap();
            assert_eq!(resolved.settings.compact_after, value);
            assert_eq!(resolved.renamed[0].0, old);
            assert_eq!(resolved.renamed[0].1.to_lowercase().trim_start_matches("bower_"), "compact_after");
        }
        for text in ["fold_after = 1\ncompact_after = 2\n", "compact_after = 2\nfold_after = 1\n"] {
            assert_eq!(resolve(&file(text)).unwrap().settings.compact_after, 2);
        }
        let written =
            set(Path::new("/h/config.toml"), "fold_after = 1\nthreads = 2\n", "compact_after", "3").unwrap();
        assert_eq!(written, "threads = 2\ncompact_after = 3\n");
        for key in ["fold_after", "compact_after"] {
            let unset = unset(Path::new("/h/config.toml"), "fold_after = 1\nthreads = 2\n", key).unwrap();
            assert_eq!(unset.as_deref(), Some("threads = 2\n"), "{key}");
        }
        assert_eq!(unset(Path::new("/h/config.toml"), "threads = 2\n", "fold_after").unwrap(), None);
    }

    #[test]
    fn what_cannot_be_meant_is_named_with_its_place() {
        fails(
            &file("\nbusy_timeout = 3\n"),
            "/h/config.toml:2: unknown setting busy_timeout",
            "busy_timeout_ms",
        );
        fails(&file("zzz = 3"), "/h/config.toml:1: unknown setting zzz", "bower config lists them all");
        fails(
            &file("threads = \"two\""),
            "/h/config.toml:1: threads: \"two\" is not a whole number from 0 to 1024",
            "",
        );
        fails(
            &file("threads = -1"),
            "/h/config.toml:1: threads: -1 is not a whole number from 0 to 1024",
            "",
        );
        fails(
            &file("models_folder = \"m\""),
            "/h/config.toml:1: models_folder: \"m\" is not an absolute path",
            "",
        );
        fails(&file("sync = \"fast\""), "/h/config.toml:1: sync: \"fast\" is not normal or full", "");
        fails(&file("[index]\nthreads = 1"), "/h/config.toml:1: unknown setting index", "");
        assert!(resolve(&file("threads = = 1")).unwrap_err().message.starts_with("/h/config.toml:1: "));
        let environment = [("BOWER_THREADS".into(), "many".into())];
        fails(
            &Layers { environment: &environment, ..Layers::default() },
            "BOWER_THREADS: \"many\" is not a whole number from 0 to 1024",
            "unset BOWER_THREADS",
        );
        let flags = ["treads=1".to_string()];
        fails(&Layers { flags: &flags, ..Layers::default() }, "--set treads: unknown setting", "threads");
        let flags = ["text_chunk_overlap=1000".to_string()];
        fails(
            &Layers { flags: &flags, ..Layers::default() },
            "text_chunk_overlap (1000) must be less than text_chunk_max (1000)",
            "bower config",
        );
    }

    #[test]
    fn a_table_of_the_file_holds_the_settings_of_a_profile() {
        let environment = [("BOWER_ATHENA_TAGS_WEIGHT".into(), "24".into())];
        let flags = ["athena.graph_weight=23".to_string()];
        for text in [
            "threads = 2\n[athena]\nvector_weight = 31 # more\ntags_weight = 1\n[atlas]\nfusion = \"rank\"\n",
            "athena.vector_weight = 31\natlas.fusion = \"rank\"\nthreads = 2\n",
            "atlas = { fusion = \"rank\" }\nathena = { vector_weight = 31.0 }\nthreads = 2\n",
        ] {
            let layers = Layers { environment: &environment, flags: &flags, ..file(text) };
            let Resolved { settings, chosen, .. } = resolve(&layers).unwrap();
            let mut expected = Settings { threads: 2, ..Settings::default() };
            expected.athena.vector_weight = 31.0;
            expected.athena.tags_weight = 24.0;
            expected.athena.graph_weight = 23.0;
            expected.atlas.fusion = bower_core::config::AtlasFusion::Rank;
            assert_eq!(settings, expected, "{text}");
            let origin = |key| chosen.iter().find(|chosen| chosen.key == key).unwrap().origin.to_string();
            assert_eq!(origin("athena.vector_weight"), "/h/config.toml");
            assert_eq!(origin("athena.tags_weight"), "BOWER_ATHENA_TAGS_WEIGHT");
            assert_eq!(origin("athena.graph_weight"), "--set");
            assert_eq!(origin("athena.text_weight"), "built-in");
        }
        let tenth = resolve(&Layers::default()).unwrap().chosen;
        let tenth = tenth.iter().find(|chosen| chosen.key == "seed.graph_weight").unwrap();
        assert_eq!(tenth.value.to_string(), "0.1");
    }

    #[test]
    fn what_cannot_be_meant_in_a_table_is_named_with_its_line() {
        fails(
            &file("threads = 1\n[athena]\nvector_wait = 3"),
            "/h/config.toml:3: unknown setting athena.vector_wait",
            "did you mean athena.vector_weight?",
        );
        fails(&file("[atena]\nvector_weight = 3"), "/h/config.toml:1: unknown setting atena", "");
        fails(
            &file("text_weight = 3"),
            "/h/config.toml:1: unknown setting text_weight",
            "did you mean bower.text_weight or athena.text_weight or ade.text_weight or seed.text_weight?",
        );
        fails(&file("athena = 3"), "/h/config.toml:1: athena: 3 is not a table of settings", "");
        fails(
            &file("\natlas.min_relevance = 2"),
            "/h/config.toml:2: atlas.min_relevance: 2 is not a number from 0 to 1",
            "",
        );
        fails(
            &file("[athena.vector_weight]\nx = 1"),
            "/h/config.toml:1: athena.vector_weight: a table, where one value is wanted",
            "",
        );
        fails(
            &file("[[athena]]\nvector_weight = 1"),
            "/h/config.toml:1: athena: a list of tables, where one is wanted",
            "",
        );
        let flags = ["athena.vector=3".to_string()];
        let layers = Layers { flags: &flags, ..Layers::default() };
        fails(&layers, "--set athena.vector: unknown setting", "bower config");
        let environment = [("BOWER_ADE_MMR_LAMBDA".into(), "2".into())];
        fails(
            &Layers { environment: &environment, ..Layers::default() },
            "BOWER_ADE_MMR_LAMBDA: 2.0 is not a number from 0 to 1",
            "unset BOWER_ADE_MMR_LAMBDA",
        );
    }

    #[test]
    fn an_empty_variable_is_no_variable() {
        let environment = [("BOWER_THREADS".into(), "".into())];
        let resolved = resolve(&Layers { environment: &environment, ..Layers::default() }).unwrap();
        assert_eq!(resolved.settings, Settings::default());
    }

    #[test]
    fn the_home_is_the_flags_then_the_variables_then_the_users() {
        let find = |flag: Option<&str>, variable: Option<&str>, user: Option<&str>| {
            Home::find(flag.map(Path::new), variable.map(OsStr::new), user.map(PathBuf::from))
                .map(|home| format!("{} from {}", home.path.display(), home.origin))
                .map_err(|failure| failure.exit)
        };
        assert_eq!(find(Some("/a"), Some("/b"), Some("/c")).unwrap(), "/a from --home");
        assert_eq!(find(None, Some("/b"), Some("/c")).unwrap(), "/b from BOWER_HOME");
        assert_eq!(find(None, Some(""), Some("/c")).unwrap(), "/c/.bowerbird from built-in");
        assert!(find(None, None, None).is_err());
        assert!(find(Some(""), None, None).is_err());
    }

    #[test]
    fn writing_keeps_comments_and_order() {
        let path = Path::new("/h/config.toml");
        let text = "# mine\nthreads = 2 # two\n\nmodel = \"none\"\n";
        assert_eq!(
            set(path, text, "threads", "4").unwrap(),
            "# mine\nthreads = 4 # two\n\nmodel = \"none\"\n"
        );
        assert_eq!(set(path, "", "rrf_k", "60").unwrap(), "rrf_k = 60.0\n");
        assert_eq!(set(path, "# only this", "sync", "full").unwrap(), "# only this\nsync = \"full\"\n");
        assert_eq!(unset(path, text, "threads").unwrap().unwrap(), "# mine\n\nmodel = \"none\"\n");
        assert_eq!(unset(path, text, "sync").unwrap(), None);
        assert!(set(path, text, "thread", "4").unwrap_err().hint.unwrap().command().contains("threads"));
        assert!(set(path, "x = = 1", "threads", "4").is_err(), "a broken file is not written over");
    }

    #[test]
    fn writing_into_a_table_keeps_the_rest() {
        let path = Path::new("/h/config.toml");
        let check = |text: &str, key: &str, value: &str, expected: &str| {
            let written = set(path, text, key, value).unwrap();
            assert_eq!(written, expected);
            let (table, last) = key.split_once('.').unwrap_or(("", key));
            let chosen = resolve(&file(&written)).unwrap().chosen;
            let origin = &chosen.iter().find(|chosen| chosen.key == key).unwrap().origin;
            assert_eq!(*origin, Origin::File(path.into()), "{table} {last}");
        };
        let key = "athena.vector_weight";
        check("", key, "25", "[athena]\nvector_weight = 25.0\n");
        check("threads = 2\n# end", key, "25", "threads = 2\n# end\n\n[athena]\nvector_weight = 25.0\n");
        check("[athena]\nvector_weight = 1 # why\n", key, "25", "[athena]\nvector_weight = 25.0 # why\n");
        check("[athena]\nbase = 1\n# end\n", key, "25", "[athena]\nbase = 1\n# end\nvector_weight = 25.0\n");
        check(
            "[athena]\nbase = 1\n\n# next\n[seed]\nrrf_k = 9\n# end\n",
            key,
            "25",
            "[athena]\nbase = 1\nvector_weight = 25.0\n\n# next\n[seed]\nrrf_k = 9\n# end\n",
        );
        check("athena.base = 1\n", key, "25", "athena.base = 1\nathena.vector_weight = 25.0\n");
        check("athena = { base = 1 }\n", key, "25", "athena = { base = 1, vector_weight = 25.0 }\n");
        check("[seed]\nrrf_k = 9\n# end\n", "threads", "2", "threads = 2\n[seed]\nrrf_k = 9\n# end\n");
        assert!(set(path, "athena = 1\n", key, "25").is_err());
    }

    #[test]
    fn taking_out_of_a_table_keeps_the_rest() {
        let path = Path::new("/h/config.toml");
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(unset(path, text, "athena.vector_weight").unwrap().as_deref(), expected, "{text}");
        };
        check("[athena]\nvector_weight = 1\nbase = 2\n", Some("[athena]\nbase = 2\n"));
        check(
            "threads = 1\n\n[athena]\n# why\nvector_weight = 1\nbase = 2\n",
            Some("threads = 1\n\n[athena]\n# why\nbase = 2\n"),
        );
        check("threads = 1\n\n[athena]\nvector_weight = 1\n", Some("threads = 1\n"));
        check("athena.vector_weight = 1\nathena.base = 1\n", Some("athena.base = 1\n"));
        check("athena = { vector_weight = 1, base = 1 }\n", Some("athena = { base = 1 }\n"));
        check("athena = { vector_weight = 1 }\nthreads = 1\n", Some("threads = 1\n"));
        check("[athena]\nbase = 2\n", None);
        check("threads = 2\n", None);
    }
}
