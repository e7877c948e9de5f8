use super::{KeyCaches, split};

#[test]
fn a_cache_is_made_by_its_first_variable() {
    let caches = KeyCaches::default();
    assert!(!caches.contains("hot"));
    assert_eq!(caches.read("hot", "key_cache_block_size"), 0);
    caches.set("hot", "key_cache_block_size", 2048);
    assert!(caches.contains("hot"));
    assert_eq!(caches.read("hot", "key_cache_block_size"), 2048);
    assert_eq!(caches.read("hot", "key_cache_division_limit"), 100);
    assert_eq!(caches.read("hot", "key_buffer_size"), 0);
    assert_eq!(caches.read("Hot", "key_cache_block_size"), 0);
}

#[test]
fn only_key_caches_have_variables_behind_a_point() {
    assert_eq!(split("my cache.KEY_BUFFER_SIZE"), Some(("my cache", "key_buffer_size")));
    assert_eq!(split("key_buffer_size"), None);
    assert_eq!(split("hot.max_connections"), None);
}
