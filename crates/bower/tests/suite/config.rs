//! Tests the layers of settings as the binary lays them, and the file as it writes it.

use crate::command::Home;
use serde_json::Value;

fn setting(data: &Value, key: &str) -> String {
    let all = data["settings"].as_array().unwrap();
    let one = all.iter().find(|one| one["key"] == key).unwrap();
    format!("{} from {}", one["value"], one["origin"].as_str().unwrap())
}

#[test]
fn every_value_says_where_it_came_from() {
    let home = Home::new().with("BOWER_THREADS", "3").with("BOWER_COMPACT_AFTER", "20");
    let file = home.write("home/config.toml", "threads = 2\nrrf_k = 30\n");
    let data = home.data(["config", "--set", "compact_after=7"]);
    assert_eq!(setting(&data, "threads"), "3 from BOWER_THREADS");
    assert_eq!(setting(&data, "rrf_k"), format!("30 from {}", file.display()));
    assert_eq!(setting(&data, "compact_after"), "7 from --set");
    assert_eq!(setting(&data, "sync"), "\"normal\" from built-in");
    assert_eq!(data["home_origin"], "BOWER_HOME");
    let other = home.path("other");
    let data = home.data(["config", "--home", other.to_str().unwrap()]);
    assert_eq!((data["home_origin"].as_str(), data["exists"].as_bool()), (Some("--home"), Some(false)));
    assert!(!other.exists(), "looking at settings creates nothing");
}

#[test]
fn setting_keeps_what_the_owner_wrote() {
    let home = Home::new();
    let data = home.data(["config", "set", "threads", "2"]);
    assert_eq!((data["changed"].as_bool(), data["value"].as_u64()), (Some(true), Some(2)));
    let path = home.data(["config", "path"])["path"].as_str().unwrap().to_string();
    std::fs::write(&path, "# why: two cores\nthreads = 2 # both\n").unwrap();
    assert_eq!(home.data(["config", "set", "threads", "4"])["value"], 4);
    assert_eq!(home.data(["config", "set", "sync", "full"])["value"], "full");
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "# why: two cores\nthreads = 4 # both\nsync = \"full\"\n"
    );
    assert_eq!(home.data(["config", "unset", "sync"])["value"], "normal");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "# why: two cores\nthreads = 4 # both\n");
    let wrong = home.run(["config", "set", "thread", "4"]);
    assert_eq!(wrong.status, 2, "{wrong:?}");
    let wrong = home.run(["config", "set", "threads", "-4"]);
    assert_eq!(wrong.status, 2, "{wrong:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "# why: two cores\nthreads = 4 # both\n");
    let names: Vec<_> =
        std::fs::read_dir(home.home()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["config.toml"], "nothing is left beside it");
}

#[test]
fn a_stronger_layer_over_what_was_set_is_told() {
    let home = Home::new().with("BOWER_THREADS", "9");
    let data = home.data(["config", "set", "threads", "2"]);
    assert_eq!((data["value"].as_u64(), data["overridden_by"].as_str()), (Some(9), Some("BOWER_THREADS")));
}
