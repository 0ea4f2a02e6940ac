//! Description of lists that NIST certifies, and means that fit the quantity.
use bakeoff_stats::describe::{Description, Quantity, aggregate};

/// NIST StRD, univariate, NumAcc1 to 4: generated as NIST defines them; certified mean, sd and lag-1 correlation.
#[test]
fn nist_certified() {
    let alternating = |first: f64, low: f64, high: f64| {
        let mut list = vec![first];
        (0..500).for_each(|_| list.extend([low, high]));
        list
    };
    let sets = [
        (vec![10_000_001.0, 10_000_003.0, 10_000_002.0], 10_000_002.0, 1.0, -0.5, 1e-9),
        (alternating(1.2, 1.1, 1.3), 1.2, 0.1, -0.999, 1e-9),
        (alternating(1_000_000.2, 1_000_000.1, 1_000_000.3), 1_000_000.2, 0.1, -0.999, 1e-9),
        (alternating(10_000_000.2, 10_000_000.1, 10_000_000.3), 10_000_000.2, 0.1, -0.999, 1e-7),
    ];
    for (list, mean, sd, lag1, digits) in sets {
        let found = Description::new(&list, 0.05).unwrap();
        for (found, certified) in [(found.mean, mean), (found.sd.unwrap(), sd), (found.lag1.unwrap(), lag1)] {
            assert!((found / certified - 1.0).abs() <= digits, "{found}, not {certified}");
        }
    }
}

#[test]
fn each_quantity_has_its_mean() {
    let list = [1.0, 4.0, 4.0];
    let close = |quantity, expected: f64| assert!((aggregate(&list, quantity).unwrap() - expected).abs() < 1e-14);
    close(Quantity::Cost, 3.0);
    close(Quantity::Rate, 2.0);
    close(Quantity::Ratio, 16f64.cbrt());
    assert_eq!(aggregate(&[], Quantity::Cost), None);
    assert_eq!(aggregate(&[1.0, 0.0], Quantity::Rate), None);
    assert_eq!(aggregate(&[1.0, -1.0], Quantity::Ratio), None);
}
