//! Locates the real model for the tests.
//! A test never passes because the model is absent.

use std::path::{Path, PathBuf};

/// The folder with `model.safetensors` and `vocab.txt`: `BOWER_TEST_MODEL`, or where `make model` puts it.
pub fn model_dir() -> PathBuf {
    let folder = std::env::var_os("BOWER_TEST_MODEL").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/model/all-MiniLM-L6-v2"),
        PathBuf::from,
    );
    for file in ["model.safetensors", "vocab.txt"] {
        assert!(folder.join(file).is_file(), "no {file} in {}: run `make model` first", folder.display());
    }
    folder
}

/// The folder that an engine finds its models in.
pub fn models_folder() -> PathBuf {
    let folder = model_dir();
    let packed = folder.join(format!("{}.packed", bower_core::model::IDENTITY));
    assert!(packed.is_file(), "no {}: run `make model` first", packed.display());
    folder.parent().expect("a model's folder lies in the models' folder").to_path_buf()
}
