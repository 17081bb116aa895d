//! What is searched, and that libFuzzer has the same.

/// One test per target, and their list.
macro_rules! targets {
    ($($name:ident: $function:ident),* $(,)?) => {
        const TARGETS: &[&str] = &[$(stringify!($name)),*];

        $(
            #[test]
            fn $name() {
                run::fuzz(stringify!($name), fuzzing::$function, seeds::all());
            }
        )*
    };
}

/// Holds that folder of `/fuzz` against the targets.
///
/// # Panics
/// Where one is missing, or there is another one.
pub fn libfuzzer_has(targets: &[&str], folder: &str) {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz");
    let manifest = std::fs::read_to_string(format!("{root}/Cargo.toml")).unwrap();
    for target in targets {
        let path = format!("{folder}/{target}.rs");
        let source = std::fs::read_to_string(format!("{root}/{path}")).expect(&path);
        assert!(source.contains(&format!("fuzz_{target}(")), "{target}");
        assert!(manifest.contains(&format!("path = \"{path}\"")), "{path}");
    }
    let files = std::fs::read_dir(format!("{root}/{folder}")).unwrap();
    assert_eq!(files.count(), targets.len(), "{folder}");
}
