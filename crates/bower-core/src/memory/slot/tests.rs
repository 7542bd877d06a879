//! Golden tests of fact keys: invented statements with the key and value of each, and statements that have none.

use super::*;

/// `key = value`, with `*` for mostly one and `**` for several, `!` for an update and `< former`.
fn shown(text: &str) -> String {
    let Some(slot) = slot(text) else { return "-".to_owned() };
    let holds = match slot.holds {
        Holds::One => "",
        Holds::Mostly => "*",
        Holds::Several => "**",
    };
    let update = if slot.says_update { "!" } else { "" };
    let former = slot.former.map_or(String::new(), |former| format!(" < {former}"));
    format!("{}{holds} = {}{update}{former}", slot.key, slot.value)
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(shown(text), expected, "{text}");
}

#[test]
fn one_statement_has_one_key_in_all_its_forms() {
    for (text, value) in [
        ("API port is 8080", "8080"),
        ("The API's port is 8080.", "8080"),
        ("The API listens on port 8080", "8080"),
        ("api port: 8080", "8080"),
        ("API_PORT=8080", "8080"),
        ("API port = 9090", "9090"),
        ("The port of the API is 9090", "9090"),
        ("the API uses port 9090", "9090"),
        ("Our API port is set to 9090", "9090"),
        ("API port is 8080 because 80 was taken", "8080"),
        ("The API port is 8080 (see the gateway's file)", "8080"),
    ] {
        check(text, &format!("api port = {value}"));
    }
    for text in [
        "API port changed from 8080 to 9090",
        "The API port was changed to 9090 from 8080 yesterday",
        "We changed the API port from 8080 to 9090",
        "The API port is now 9090 instead of 8080",
        "The API port is 9090, not 8080",
        "The new API port is 9090 (was 8080)",
        "Update: the API port is 9090, no longer 8080",
    ] {
        check(text, "api port = 9090! < 8080");
    }
    check("The API port is now 9090", "api port = 9090!");
    check("Since March, the API port is 9090", "api port = 9090");
    check("The API port is 9090 since March", "api port = 9090");
}

#[test]
fn every_qualifier_is_in_the_key() {
    for text in [
        "The staging API port is 8080",
        "The API port in staging is 8080",
        "In staging, the API port is 8080",
        "The API port is 8080 in staging",
        "The API listens on port 8080 in staging",
    ] {
        check(text, "api port staging = 8080");
    }
    check("The API port for prod is 8080", "api port production = 8080");
    check("server web-041 has 16 GB", "data web-041 = 16000000000 B");
    check("server web-042 has 16 GB", "data web-042 = 16000000000 B");
    check("Server web-042 has 16GB of RAM", "memory web-042 = 16000000000 B");
    check(
        "The flight from Berlin to Paris costs 100 euros",
        "cost eur flight from~berlin to~paris = 100 EUR",
    );
    check(
        "The flight from Paris to Berlin costs 100 euros",
        "cost eur flight from~paris to~berlin = 100 EUR",
    );
    check("The timeout of the second worker is 30s", "second timeout worker = 30000000000 ns");
    check("The timeout of the third worker is 30s", "third timeout worker = 30000000000 ns");
}

#[test]
fn people_places_and_times_have_slots() {
    check("Alice works at Acme", "alice employer = acme");
    check("Alice now works for Globex", "alice employer = globex!");
    check("Alice's favourite editor is Helix", "alice editor favorite = helix");
    check("My favorite editor is Vim", "editor favorite i = vim");
    check("Alice lives in Berlin", "alice location = berlin");
    check("Alice moved from Berlin to Lisbon", "alice location = lisbon! < berlin");
    check("Bob reports to Carol", "bob manager = carol");
    check("Acme's CEO is Bob", "acme ceo = bob");
    check("the deploy day is now Friday", "day deploy = friday!");
    check("the team meets on Tuesdays", "day meet team = tuesday");
    check("The team meets on Tuesdays at 10:30", "day time meet team = tuesday 10:30");
    check("Backups run daily", "backups frequency run = daily");
    check("The retro is on Thursday", "day retro = thursday");
    check("The retro moved to Friday", "day retro = friday!");
    check("The release deadline is May 5", "deadline release = ????-05-05");
    check("The release deadline was moved to May 12", "deadline release = ????-05-12!");
    check("The standup is at 10am", "standup time = 10:00");
    check("The build takes 5 minutes", "build duration take = 300000000000 ns");
}

#[test]
fn machines_and_states_have_slots() {
    check("The staging database moved to db-02", "database host staging = db-02!");
    check("The staging database is db-01", "database host staging = db-01");
    check("The staging db runs on db-01", "database host staging* = db-01");
    check("The staging database host is db-01", "database host staging = db-01");
    check("We moved the staging database from db-01 to db-02", "database host staging = db-02! < db-01");
    check("The new-checkout flag is enabled", "flag new-checkout ~enabled = enabled");
    check("The new-checkout flag is now off in prod", "flag new-checkout production ~enabled = disabled!");
    check("PostgreSQL was upgraded from 15 to 16", "postgresql version = 16! < 15");
    check("PostgreSQL is on version 16", "postgresql version = 16");
    check("The repository was renamed to bowerbird", "name repository = bowerbird!");
    check("The default branch is main", "branch default = main");
    check("The worker pool times out after 30 seconds", "duration pool time worker = 30000000000 ns");
}

#[test]
fn an_attribute_may_be_said_of_its_owner_in_any_order() {
    for text in [
        "The port of wren-cache is 8080",
        "8080 is the port of wren-cache",
        "wren-cache has 8080 as its port",
        "port (wren-cache): 8080",
        "For wren-cache, the port is 8080",
        "wren-cache is bound to port 8080",
        "Noted. The port of wren-cache is 8080 (confirmed)",
        "FYI the port of wren-cache is 8080, btw",
    ] {
        check(text, "port wren-cache = 8080");
    }
    for text in [
        "wren-cache port: 8080 -> 9090",
        "wren-cache: port is now 9090, it was 8080 before",
        "the port of wren-cache went from 8080 to 9090",
        "The port of wren-cache is no longer 8080, it is 9090",
        "New port for wren-cache: 9090, replacing 8080",
        "Correction: port for wren-cache is 9090, not 8080",
    ] {
        check(text, "port wren-cache = 9090! < 8080");
    }
    check("As of today the port of wren-cache is 9090", "port wren-cache = 9090!");
    check("wren-cache switched its port to 9090", "port wren-cache = 9090!");
    check("Alice owns wren-cache", "owner wren-cache = alice");
    check("The mascot of the team is Otto", "mascot team = otto");
    check("The alert channel of wren-cache is #wren-alerts", "alert channel wren-cache = wren-alerts");
    check("The test command of harbor is `make check`", "command harbor test = make check");
    check("harbor is at version v1.2.3", "harbor version = 1.2.3");
    check("The API runs with 3 replicas", "api replica = 3");
    check("nginx listens on port 8080", "nginx port = 8080");
    check("The port of service wren-cache is 8080", "port wren-cache = 8080");
    check("FYI Update: the port of wren-cache is 8080", "port wren-cache = 8080!");
    check("For wren-cache, the operating system is Alpine 3", "operating system wren-cache = alpine 3");
}

#[test]
fn what_can_be_several_says_so() {
    check("We use PostgreSQL 16 for billing", "billing use we* = postgresql 16");
    check("We now use MySQL for billing", "billing use we* = mysql!");
    check("We switched from Jenkins to GitHub Actions for CI", "ci use we* = github actions! < jenkins");
    check("Alice likes tea", "alice like** = tea");
    check("Alice likes coffee instead of tea", "alice like** = coffee! < tea");
    check("Project Apollo uses Rust", "apollo use** = rust");
    check("The API runs on Kubernetes", "api run** = kubernetes");
    check("The worker runs on host web-03", "host worker* = web-03");
    check("port: 8080", "port* = 8080");
}

#[test]
fn what_is_not_certain_single_and_present_has_no_slot() {
    for text in [
        "",
        "The API port is 8080. The admin port is 9090.",
        "The API port is 8080 and the admin port is 9090",
        "API and worker ports are 8080",
        "The API port was 8080",
        "The API port will be 9090",
        "The API port may be 9090",
        "If you are on Linux, the API port is 9090",
        "The API port is not 8080",
        "We no longer use Redis",
        "Is the API port 8080?",
        "It is 8080",
        "The server is slow",
        "The database is fast",
        "Alice is German",
        "Alice is a doctor",
        "The problem is Redis",
        "Alice's friend is Bob",
        "A user is Bob",
        "Some servers have 16 GB",
        "We use Redis and Kafka for billing",
        "Alice, our lead, works at Acme",
        "We plan to use Redis for caching",
        "Alice: I like tea",
        "TODO: fix the port",
        "The default branch is used for releases",
        "Use tabs for indentation",
        "Remember the milk",
        "The limit is at least 8",
        "Either db-01 or db-02",
        "Alice is in Paris",
        "Alice is on the Platform team",
        "Bob also reports to Carol",
        "Redis is a dependency of billing",
        "The design of the API is simple",
        "The owner of wren-cache is on holiday",
        "The budget of harbor is tight",
        "The lead of harbor is out until Friday",
        "The port of wren-cache is going to be 9090 after May 5",
        "wren-cache used to have 8080 as its port",
        "task + design = scenario",
        "col = index - row_index",
        "x = f(y)",
        "It's like a dream",
        "Moments like these count",
        "Identities are Ed25519 key pairs",
        "The API port is 8080 unless it is taken",
        "The previous API port is 8080",
        "端口是8080",
        "Der Server ist langsam",
    ] {
        check(text, "-");
    }
}

#[test]
fn values_are_compared_in_one_form() {
    let same = |one: &str, two: &str| slot(one).unwrap().same_value(&slot(two).unwrap());
    assert!(same("The timeout is 30s", "The timeout is 30 seconds"));
    assert!(same("The timeout is 1 minute", "The timeout is 60s"));
    assert!(same("The budget is 500", "The budget is $500"));
    assert!(
        same("The timeout is 30", "The timeout is 30s") && !same("The timeout is 30", "The timeout is 300s")
    );
    assert!(!same("The timeout is 30s", "The timeout is 30ms"));
    assert!(same("The release date is May 5", "The release date is 5 May"));
    let variant = |one: &str, two: &str| slot(one).unwrap().is_variant(&slot(two).unwrap());
    assert!(variant("We use PostgreSQL 16", "We use PostgreSQL 17"));
    assert!(!variant("We use PostgreSQL 16", "We use Redis 7") && !variant("We use Redis", "We use Redis"));
}
