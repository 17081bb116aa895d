//! Which requests of `petclinic` are valid.

use crate::error::ApplicationError;
use crate::petclinic::{
    AddOwnerRequest, AddPetRequest, AddPetToOwnerRequest, AddPetTypeRequest, AddSpecialtyRequest,
    AddVetRequest, AddVisitRequest, AddVisitToOwnerRequest, UpdateOwnerRequest, UpdatePetRequest,
    UpdatePetTypeRequest, UpdateSpecialtyRequest, UpdateVetRequest, UpdateVisitRequest,
};

/// UTF-16 code units of a person's or pet's name, as Java counts them.
pub const PERSON_NAME_MAX: usize = 30;

/// Of the name of a type or specialty.
pub const NAME_MAX: usize = 80;

/// Of an address.
pub const ADDRESS_MAX: usize = 255;

/// Of a city.
pub const CITY_MAX: usize = 80;

/// Digits of a telephone number.
pub const TELEPHONE_MAX: usize = 20;

/// Of the description of a visit.
pub const DESCRIPTION_MAX: usize = 255;

/// A request whose fields can be checked without any state.
pub trait Checked {
    /// Whether every field is within its limits.
    fn valid(&self) -> bool;

    /// Refuses a request of which a field breaks its limit.
    ///
    /// # Errors
    /// [`ApplicationError::Invalid`].
    fn check(&self) -> Result<(), ApplicationError> {
        match self.valid() {
            true => Ok(()),
            false => Err(ApplicationError::Invalid),
        }
    }
}

/// Whether a text has 1 to `most` UTF-16 code units, and no NUL, which no text of the
/// contracts holds.
fn has_size(text: &str, most: usize) -> bool {
    // Java's `@Size` counts UTF-16 code units, and the application is in Java: 🔩 counts
    // twice.
    !text.is_empty() && !text.contains('\0') && text.encode_utf16().count() <= most
}

fn person_name(text: &str) -> bool {
    has_size(text, PERSON_NAME_MAX) && text.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn telephone(text: &str) -> bool {
    has_size(text, TELEPHONE_MAX) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text is a day of the Gregorian calendar as `YYYY-MM-DD`, from year 1 on.
fn date(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Shape first: `parse` would take a sign, and the slices below need ASCII.
    let shaped = bytes.len() == 10
        && bytes.iter().enumerate().all(|(k, byte)| match k {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !shaped {
        return false;
    }
    let number = |from: usize, to: usize| text[from..to].parse::<u32>().unwrap_or(0);
    let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
    // The Gregorian rule for all years, also before 1582 (proleptic, ISO 8601).
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => 0,
    };
    year > 0 && (1..=days).contains(&day)
}

// One line per request, since `check` runs in services with a database too, which do not
// use the tables.
macro_rules! checked {
    ($($request:ty: |$name:ident| $valid:expr;)*) => {
        $(
            impl Checked for $request {
                fn valid(&self) -> bool {
                    let $name = self;
                    $valid
                }
            }
        )*
    };
}

checked! {
    AddPetTypeRequest: |r| has_size(&r.name, NAME_MAX);
    UpdatePetTypeRequest: |r| has_size(&r.name, NAME_MAX);
    AddSpecialtyRequest: |r| has_size(&r.name, NAME_MAX);
    UpdateSpecialtyRequest: |r| has_size(&r.name, NAME_MAX);
    AddVetRequest: |r| person_name(&r.first_name) && person_name(&r.last_name);
    UpdateVetRequest: |r| person_name(&r.first_name) && person_name(&r.last_name);
    AddOwnerRequest: |r| owner([&r.first_name, &r.last_name, &r.address, &r.city, &r.telephone]);
    UpdateOwnerRequest: |r| owner([&r.first_name, &r.last_name, &r.address, &r.city, &r.telephone]);
    AddPetRequest: |r| has_size(&r.name, PERSON_NAME_MAX) && date(&r.birth_date);
    AddPetToOwnerRequest: |r| has_size(&r.name, PERSON_NAME_MAX) && date(&r.birth_date);
    UpdatePetRequest: |r| has_size(&r.name, PERSON_NAME_MAX) && date(&r.birth_date);
    AddVisitRequest: |r| date(&r.date) && has_size(&r.description, DESCRIPTION_MAX);
    AddVisitToOwnerRequest: |r| date(&r.date) && has_size(&r.description, DESCRIPTION_MAX);
    UpdateVisitRequest: |r| date(&r.date) && has_size(&r.description, DESCRIPTION_MAX);
}

/// First name, last name, address, city, telephone.
fn owner([first, last, address, city, number]: [&String; 5]) -> bool {
    person_name(first)
        && person_name(last)
        && has_size(address, ADDRESS_MAX)
        && has_size(city, CITY_MAX)
        && telephone(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_of_the_calendar() {
        for good in [
            "2010-09-07",
            "2000-02-29",
            "2024-02-29",
            "0001-01-01",
            "9999-12-31",
        ] {
            assert!(date(good), "{good}");
        }
        for bad in [
            "",
            "2010-9-7",
            "2010/09/07",
            "1900-02-29",
            "2023-02-29",
            "2010-13-01",
            "2010-00-10",
            "2010-04-31",
            "2010-01-00",
            "0000-01-01",
            "2010-09-071",
            // Digits of Unicode, which some libraries accept as digits.
            "٢٠١٠-09-07",
            "+201-09-07",
        ] {
            assert!(!date(bad), "{bad}");
        }
    }

    #[test]
    fn texts_are_counted_as_java_counts_them() {
        assert!(has_size(&"é".repeat(30), 30) && !has_size(&"é".repeat(31), 30));
        assert!(has_size(&"🔩".repeat(15), 30) && !has_size(&"🔩".repeat(16), 30));
        assert!(!has_size("", 30));
        assert!(person_name("McTavish") && !person_name("O'Neil") && !person_name("Zoë"));
        assert!(telephone("6085551023") && !telephone("608-555") && !telephone(&"1".repeat(21)));
    }
}
