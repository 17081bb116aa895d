//! The rows with which every service of `petclinic` starts: the sample data that Spring
//! PetClinic ships (6 vets, 3 specialties, 6 types, 10 owners, 13 pets, 4 visits).

/// Types of pets, in the order of their ids from 1.
pub const PET_TYPES: [&str; 6] = ["cat", "dog", "lizard", "snake", "bird", "hamster"];

/// Specialties, in the order of their ids from 1.
pub const SPECIALTIES: [&str; 3] = ["radiology", "surgery", "dentistry"];

/// First name, last name and ids of specialties of the vets, by their ids from 1.
pub const VETS: [(&str, &str, &[i32]); 6] = [
    ("James", "Carter", &[]),
    ("Helen", "Leary", &[1]),
    ("Linda", "Douglas", &[2, 3]),
    ("Rafael", "Ortega", &[2]),
    ("Henry", "Stevens", &[1]),
    ("Sharon", "Jenkins", &[]),
];

/// First name, last name, address, city and telephone of the owners, by their ids from 1.
#[rustfmt::skip]
pub const OWNERS: [[&str; 5]; 10] = [
    ["George", "Franklin", "110 W. Liberty St.", "Madison", "6085551023"],
    ["Betty", "Davis", "638 Cardinal Ave.", "Sun Prairie", "6085551749"],
    ["Eduardo", "Rodriquez", "2693 Commerce St.", "McFarland", "6085558763"],
    ["Harold", "Davis", "563 Friendly St.", "Windsor", "6085553198"],
    ["Peter", "McTavish", "2387 S. Fair Way", "Madison", "6085552765"],
    ["Jean", "Coleman", "105 N. Lake St.", "Monona", "6085552654"],
    ["Jeff", "Black", "1450 Oak Blvd.", "Monona", "6085555387"],
    ["Maria", "Escobito", "345 Maple St.", "Madison", "6085557683"],
    ["David", "Schroeder", "2749 Blackhawk Trail", "Madison", "6085559435"],
    ["Carlos", "Estaban", "2335 Independence La.", "Waunakee", "6085555487"],
];

/// Name, birth date, id of the type and id of the owner of the pets, by their ids from 1.
pub const PETS: [(&str, &str, i32, i32); 13] = [
    ("Leo", "2010-09-07", 1, 1),
    ("Basil", "2012-08-06", 6, 2),
    ("Rosy", "2011-04-17", 2, 3),
    ("Jewel", "2010-03-07", 2, 3),
    ("Iggy", "2010-11-30", 3, 4),
    ("George", "2010-01-20", 4, 5),
    ("Samantha", "2012-09-04", 1, 6),
    ("Max", "2012-09-04", 1, 6),
    ("Lucky", "2011-08-06", 5, 7),
    ("Mulligan", "2007-02-24", 2, 8),
    ("Freddy", "2010-03-09", 5, 9),
    ("Lucky", "2010-06-24", 2, 10),
    ("Sly", "2012-06-08", 1, 10),
];

/// Id of the pet, date and description of the visits, by their ids from 1.
pub const VISITS: [(i32, &str, &str); 4] = [
    (7, "2013-01-01", "rabies shot"),
    (8, "2013-01-02", "rabies shot"),
    (8, "2013-01-03", "neutered"),
    (7, "2013-01-04", "spayed"),
];
