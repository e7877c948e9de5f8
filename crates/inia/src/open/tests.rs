//! The buffer pool's size.

use super::*;

const MEMORY: Option<u64> = Some(8 << 30);

#[test]
fn a_pool_that_is_too_small_is_refused() {
    let refusal = pool_size(Some(1 << 10), MEMORY).unwrap_err();
    assert!(refusal.contains("a buffer pool of 1024 bytes is too small"), "{refusal}");
    assert_eq!(pool_size(Some(5 << 20), MEMORY), Ok(5 << 20));
    assert_eq!(pool_size(Some(7 << 20), MEMORY), Ok(7 << 20));
    assert_eq!(pool_size(None, MEMORY), Ok(2 << 30));
    assert_eq!(pool_size(None, Some(100 << 20)), Ok(64 << 20));
    assert_eq!(pool_size(None, None), Ok(64 << 20));
}

#[test]
fn a_pool_larger_than_the_machine_is_refused() {
    let refusal = pool_size(Some(1 << 60), MEMORY).unwrap_err();
    assert!(refusal.contains("1099511627776 MB does not fit"), "{refusal}");
    assert_eq!(pool_size(Some(1 << 60), None), Ok(1 << 60), "the pool takes what it can use");
}

#[test]
fn a_database_opens_with_the_smallest_pool() {
    let dir = std::env::temp_dir().join(format!("inia-smallest-pool-{}", std::process::id()));
    let config = Config { buffer_pool_size: Some(SMALLEST_POOL), ..Config::default() };
    let data = DataDir::take(&dir).unwrap();
    let database = open(&data, &config, false).unwrap();
    database.close().unwrap();
    drop((database, data));
    std::fs::remove_dir_all(&dir).unwrap();
}
