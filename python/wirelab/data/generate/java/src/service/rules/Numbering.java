package service.rules;

/** The number that a reply gets. */
public final class Numbering {
    private final int number;
    private final String suffix;

    /** {@code number} is from 0 to 999; {@code texts} appends it to texts as three digits. */
    public Numbering(int number, boolean texts) {
        this.number = number;
        suffix = texts ? String.valueOf(1000 + number).substring(1) : "";
    }

    /** The sample's number with it. */
    public int add(int sample) {
        return sample + number;
    }

    /** As above. */
    public long add(long sample) {
        return sample + number;
    }

    /** As above. */
    public float add(float sample) {
        return sample + number;
    }

    /** As above. */
    public double add(double sample) {
        return sample + number;
    }

    /** The sample's text, with it where texts are numbered. */
    public String add(String sample) {
        return suffix.isEmpty() ? sample : sample + suffix;
    }
}
