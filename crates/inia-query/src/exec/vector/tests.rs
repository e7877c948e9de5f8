//! Vectors compute what single numbers give, and refuse what does not fit.

use super::numbers::{Numbers, Values, arith, compare};
use inia_expr::tree::{ArithOp, CmpOp};

const NUMBERS: [i128; 9] = [
    0,
    1,
    -1,
    99,
    -1_000_000_007,
    i64::MAX as i128,
    i64::MIN as i128,
    i64::MAX as i128 + 1,
    10i128.pow(25),
];

fn checked(op: ArithOp, left: i128, right: i128) -> i128 {
    match op {
        ArithOp::Add => left + right,
        ArithOp::Sub => left - right,
        _ => left.checked_mul(right).expect("products here fit"),
    }
}

#[test]
fn each_width_beside_each_gives_the_same_numbers() {
    for &first in &NUMBERS {
        for &second in &NUMBERS[..8] {
            let columns = [vec![first, second, 5], vec![7, first, second], vec![-3, 0, 1]];
            for left in &columns {
                for op in [ArithOp::Add, ArithOp::Sub, ArithOp::Mul] {
                    let right = &columns[2];
                    let vector = |values: &Vec<i128>| Numbers::wide(values.clone(), Vec::new());
                    let result = arith(op, &vector(left), &vector(right)).unwrap();
                    let constant = arith(op, &vector(left), &Numbers::one(second)).filter(|_| {
                        op != ArithOp::Mul || left.iter().all(|l| l.checked_mul(second).is_some())
                    });
                    for i in 0..3 {
                        assert_eq!(result.get(i), checked(op, left[i], right[i]));
                        if let Some(constant) = &constant {
                            assert_eq!(constant.get(i), checked(op, left[i], second));
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn results_that_fit_64_bits_are_kept_in_them() {
    let small = Numbers::small(vec![1, 2, 3], Vec::new());
    let sum = arith(ArithOp::Add, &small, &Numbers::one(5)).unwrap();
    assert!(matches!(sum.values, Values::Small(_)));
    let large = Numbers::small(vec![i64::MAX, 0, 0], Vec::new());
    let sum = arith(ArithOp::Add, &large, &small).unwrap();
    assert!(matches!(sum.values, Values::Wide(_)));
    assert_eq!(sum.get(0), i128::from(i64::MAX) + 1);
}

#[test]
fn results_beyond_128_bits_are_refused() {
    let large = Numbers::wide(vec![i128::MAX, 1], Vec::new());
    assert!(arith(ArithOp::Add, &large, &Numbers::one(1)).is_none());
    assert!(arith(ArithOp::Mul, &large, &Numbers::one(-2)).is_none());
    assert!(Numbers::one(i128::MAX).scaled(1).is_none());
}

#[test]
fn a_null_stays_one_whatever_number_stands_for_it() {
    let left = Numbers::small(vec![1, 0, 3], vec![false, true, false]);
    let right = Numbers::small(vec![0, 5, 6], vec![true, false, false]);
    let sum = arith(ArithOp::Add, &left, &right).unwrap();
    assert_eq!([0, 1, 2].map(|row| sum.is_null(row)), [true, true, false]);
    assert_eq!(sum.get(2), 9);
}

#[test]
fn vectors_compare_with_constants_of_any_width() {
    let small = Numbers::small(vec![-1, 0, 1], Vec::new());
    for (constant, expected) in [(0, [true, false, false]), (1 << 100, [true; 3])] {
        let mut holds = Vec::new();
        holds.extend(compare(CmpOp::Lt, &small, &Numbers::one(constant), 3, |holds| holds));
        assert_eq!(holds, expected);
    }
}
