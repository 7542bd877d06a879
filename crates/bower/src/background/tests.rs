//! Tests the work in the background, by a clock of the test's own and settings that it changes.

use std::sync::{Mutex, PoisonError};

use super::*;
use crate::failure::Failure;

/// A store without a model, whose settings file says which model is wanted.
struct Place {
    folder: tempfile::TempDir,
    service: Service,
    background: Background,
    wanted: Arc<Mutex<Option<String>>>,
    at: Duration,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { model: "none".into(), ..Settings::default() };
        let engine = Engine::open(&folder.path().join("home"), settings, Timestamp::UNIX_EPOCH).unwrap();
        let wanted = Arc::new(Mutex::new(Some("none".to_owned())));
        let read = Arc::clone(&wanted);
        let background = Background::new(folder.path().join("config.toml"), move || {
            let wanted = read.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let model =
                wanted.ok_or_else(|| Failure::usage("config.toml: line 1 is no setting", "mend it"))?;
            Ok(Settings { model, ..Settings::default() })
        });
        Self { folder, service: Service::new(engine), background, wanted, at: Duration::ZERO }
    }

    /// Changes the settings file.
    fn want(&self, model: Option<&str>) {
        *self.wanted.lock().unwrap() = model.map(str::to_owned);
        let file = self.folder.path().join("config.toml");
        let longer = std::fs::read_to_string(&file).unwrap_or_default() + "#";
        std::fs::write(file, longer).unwrap();
    }

    fn step(&mut self) -> Stepped {
        let stepped = self.background.step(&self.service, &|| Activity::Idle, self.at, Timestamp::UNIX_EPOCH);
        self.at += LOOK;
        stepped
    }

    fn answers(&self) -> String {
        self.service.engine().settings().model.clone()
    }
}

#[test]
fn another_model_answers_once_nothing_waits_for_it() {
    let mut place = Place::new();
    assert_eq!((place.step().news, place.answers().as_str()), (None, "none"));
    // An empty store lacks no vector.
    place.want(Some("all-MiniLM-L6-v2"));
    assert_eq!(place.step().news, Some(News::Answers("all-MiniLM-L6-v2".into())));
    assert_eq!(place.answers(), "all-MiniLM-L6-v2");
    assert_eq!(place.step().news, None);
}

#[test]
fn a_model_that_is_not_there_does_not_answer_and_is_told_once() {
    let mut place = Place::new();
    let body = crate::service::CurateBody {
        content: "The ferry leaves at seven.".into(),
        ..crate::service::CurateBody::default()
    };
    let bounds = crate::service::Bounds::local();
    place.service.curate(&body, &bounds, Timestamp::UNIX_EPOCH).unwrap();
    place.want(Some("nowhere"));
    let told = place.step().news;
    let Some(News::Unavailable(why)) = &told else { panic!("{told:?}") };
    assert!(why.contains("model nowhere is not installed"), "{why}");
    for _ in 0..70 {
        assert_eq!(place.step().news, None);
    }
    assert_eq!(place.answers(), "none");
    // Taken back, nothing is left of it.
    place.want(Some("none"));
    place.step();
    assert!(place.background.coming.is_none() && place.step().is_drained);
}

#[test]
fn settings_that_cannot_be_read_change_nothing_and_are_told_once() {
    let mut place = Place::new();
    place.step();
    place.want(None);
    let told = place.step().news;
    assert_eq!(told, Some(News::Unread("config.toml: line 1 is no setting".into())));
    assert_eq!((place.step().news, place.answers().as_str()), (None, "none"));
}
