use super::{changed, of_number};

const DEFAULT: &str = "mrr=on,hash_join=on,skip_scan=off";

#[test]
fn named_switches_change_and_the_others_stay() {
    let now = "mrr=off,hash_join=on,skip_scan=on";
    assert_eq!(
        changed(now, DEFAULT, "HASH_JOIN=OFF").unwrap(),
        "mrr=off,hash_join=off,skip_scan=on"
    );
    assert_eq!(changed(now, DEFAULT, "").unwrap(), now);
    assert_eq!(changed(now, DEFAULT, "mrr=default").unwrap(), "mrr=on,hash_join=on,skip_scan=on");
    assert_eq!(changed(now, DEFAULT, "default").unwrap(), DEFAULT);
    let both = "skip_scan=on,default";
    assert_eq!(changed(now, DEFAULT, both).unwrap(), "mrr=on,hash_join=on,skip_scan=on");
}

#[test]
fn an_error_quotes_the_text_from_the_mistake_on() {
    for (wanted, rest) in [
        ("mrr=off,foo=on,hash_join=off", "foo=on,hash_join=off"),
        ("mrr=off,,hash_join=off", ",hash_join=off"),
        ("mrr=off,", ""),
        ("mrr=off,mrr=off", "mrr=off"),
        (" mrr=off", " mrr=off"),
        ("mrr", "mrr"),
        ("mrr=2", "mrr=2"),
    ] {
        assert_eq!(changed(DEFAULT, DEFAULT, wanted), Err(rest), "{wanted}");
    }
}

#[test]
fn bits_are_switches_from_the_first_on() {
    assert_eq!(of_number(DEFAULT, 5).unwrap(), "mrr=on,hash_join=off,skip_scan=on");
    assert_eq!(of_number(DEFAULT, 8), None);
}
