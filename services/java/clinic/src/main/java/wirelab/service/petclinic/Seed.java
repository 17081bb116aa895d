package wirelab.service.petclinic;

import java.util.List;

/** The rows at the start, in the order of their ids from 1: the sample data that Spring PetClinic ships. */
public final class Seed {
    /** A vet; its specialties by their ids. */
    public record VetRow(String firstName, String lastName, List<Integer> specialties) {}

    /** A pet; type and owner by their ids. */
    public record PetRow(String name, String birthDate, int type, int owner) {}

    /** A visit; the pet by its id. */
    public record VisitRow(int pet, String date, String description) {}

    /** Names of types. */
    public static final List<String> PET_TYPES = List.of("cat", "dog", "lizard", "snake", "bird", "hamster");

    /** Names of specialties. */
    public static final List<String> SPECIALTIES = List.of("radiology", "surgery", "dentistry");

    /** Vets. */
    public static final List<VetRow> VETS = List.of(
            new VetRow("James", "Carter", List.of()),
            new VetRow("Helen", "Leary", List.of(1)),
            new VetRow("Linda", "Douglas", List.of(2, 3)),
            new VetRow("Rafael", "Ortega", List.of(2)),
            new VetRow("Henry", "Stevens", List.of(1)),
            new VetRow("Sharon", "Jenkins", List.of()));

    /** First name, last name, address, city and telephone of the owners. */
    public static final List<List<String>> OWNERS = List.of(
            List.of("George", "Franklin", "110 W. Liberty St.", "Madison", "6085551023"),
            List.of("Betty", "Davis", "638 Cardinal Ave.", "Sun Prairie", "6085551749"),
            List.of("Eduardo", "Rodriquez", "2693 Commerce St.", "McFarland", "6085558763"),
            List.of("Harold", "Davis", "563 Friendly St.", "Windsor", "6085553198"),
            List.of("Peter", "McTavish", "2387 S. Fair Way", "Madison", "6085552765"),
            List.of("Jean", "Coleman", "105 N. Lake St.", "Monona", "6085552654"),
            List.of("Jeff", "Black", "1450 Oak Blvd.", "Monona", "6085555387"),
            List.of("Maria", "Escobito", "345 Maple St.", "Madison", "6085557683"),
            List.of("David", "Schroeder", "2749 Blackhawk Trail", "Madison", "6085559435"),
            List.of("Carlos", "Estaban", "2335 Independence La.", "Waunakee", "6085555487"));

    /** Pets. */
    public static final List<PetRow> PETS = List.of(
            new PetRow("Leo", "2010-09-07", 1, 1),
            new PetRow("Basil", "2012-08-06", 6, 2),
            new PetRow("Rosy", "2011-04-17", 2, 3),
            new PetRow("Jewel", "2010-03-07", 2, 3),
            new PetRow("Iggy", "2010-11-30", 3, 4),
            new PetRow("George", "2010-01-20", 4, 5),
            new PetRow("Samantha", "2012-09-04", 1, 6),
            new PetRow("Max", "2012-09-04", 1, 6),
            new PetRow("Lucky", "2011-08-06", 5, 7),
            new PetRow("Mulligan", "2007-02-24", 2, 8),
            new PetRow("Freddy", "2010-03-09", 5, 9),
            new PetRow("Lucky", "2010-06-24", 2, 10),
            new PetRow("Sly", "2012-06-08", 1, 10));

    /** Visits. */
    public static final List<VisitRow> VISITS = List.of(
            new VisitRow(7, "2013-01-01", "rabies shot"),
            new VisitRow(8, "2013-01-02", "rabies shot"),
            new VisitRow(8, "2013-01-03", "neutered"),
            new VisitRow(7, "2013-01-04", "spayed"));

    private Seed() {}
}
