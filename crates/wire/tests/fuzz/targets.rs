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

/// Compares a source of `/fuzz` and its programs with the targets.
///
/// # Panics
/// Where one is missing, or there is another one.
pub fn libfuzzer_has(targets: &[&str], file: &str) {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz");
    let read = |name: &str| std::fs::read_to_string(format!("{root}/{name}")).unwrap();
    let (manifest, source) = (read("Cargo.toml"), read(file));
    for target in targets {
        let arm = format!("\"{target}\" => fuzzing::fuzz_{target}(data),");
        assert!(source.contains(&arm), "{target}");
        let program = format!("name = \"{target}\"\npath = \"{file}\"\n");
        assert!(manifest.contains(&program), "{target}");
    }
    let programs = manifest.matches(&format!("path = \"{file}\"")).count();
    assert_eq!(programs, targets.len(), "{file}");
    assert_eq!(
        source.matches("fuzzing::fuzz_").count(),
        targets.len(),
        "{file}"
    );
}
