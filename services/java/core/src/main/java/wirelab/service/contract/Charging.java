package wirelab.service.contract;

import static wirelab.service.contract.ApplicationError.unless;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The contract {@code charging}. One lock makes every operation atomic: an operation is a few
 * hundred nanoseconds, far below the cost of any message that asks for it.
 */
public final class Charging implements Model {
    static final int UNCONFIRMED_MAX = 1_000_000;
    static final int RESERVATIONS_MAX = 1_000_000;

    private record Reservation(int account, int amount) {}

    /** The numbers that Reserve answers. */
    public record Reserved(int reservation, int confirmation) {}

    /** What an account holds, and what of it is set aside. */
    public record Holding(int balance, int reserved) {}

    private final int[] balances;
    private final int[] reserved;
    private final Map<Integer, Reservation> reservations = new HashMap<>();
    private final Set<Integer> unconfirmed = new HashSet<>();
    private int lastNumber;

    /** Accounts 1 to {@code accounts}, each holding {@code balance} units. */
    public Charging(int accounts, int balance) {
        balances = new int[accounts + 1];
        reserved = new int[accounts + 1];
        Arrays.fill(balances, 1, accounts + 1, balance);
    }

    @Override
    public List<String> operations() {
        return List.of("Credit", "DirectDebit", "Reserve", "DebitReservation", "ReleaseRes",
                "CreditControl", "ConfirmAction");
    }

    /** Adds an amount; returns the confirmation number. */
    public synchronized int credit(int account, int amount) throws ApplicationError {
        checkAmount(amount, account);
        unless(balances[account] <= Integer.MAX_VALUE - amount, "balance must not exceed 2147483647");
        checkUnconfirmed();
        balances[account] += amount;
        return confirmation();
    }

    /** Takes an amount; returns the confirmation number. */
    public synchronized int directDebit(int account, int amount) throws ApplicationError {
        checkAvailable(account, amount);
        balances[account] -= amount;
        return confirmation();
    }

    /** Sets an amount aside. */
    public synchronized Reserved reserve(int account, int amount) throws ApplicationError {
        checkAvailable(account, amount);
        unless(reservations.size() < RESERVATIONS_MAX, "too many reservations");
        reserved[account] += amount;
        int number = nextNumber();
        reservations.put(number, new Reservation(account, amount));
        return new Reserved(number, confirmation());
    }

    /** Takes an amount out of what was set aside and ends the reservation. */
    public synchronized int debitReservation(int account, int amount, int number) throws ApplicationError {
        checkAmount(amount, account);
        Reservation reservation = reservations.get(number);
        unless(reservation != null && reservation.account == account, "unknown reservation");
        unless(amount <= reservation.amount, "not enough credit");
        checkUnconfirmed();
        reservations.remove(number);
        reserved[account] -= reservation.amount;
        balances[account] -= amount;
        return confirmation();
    }

    /** Gives back what was set aside. */
    public synchronized int releaseRes(int number) throws ApplicationError {
        Reservation reservation = reservations.get(number);
        unless(reservation != null, "unknown reservation");
        checkUnconfirmed();
        reservations.remove(number);
        reserved[reservation.account] -= reservation.amount;
        return confirmation();
    }

    /** Returns the balance of the account. */
    public synchronized Holding creditControl(int account) throws ApplicationError {
        checkAccount(account);
        return new Holding(balances[account], reserved[account]);
    }

    /** The caller acknowledges an action. */
    public synchronized int confirmAction(int confirmation) throws ApplicationError {
        unless(unconfirmed.remove(confirmation), "unknown confirmation");
        return confirmation;
    }

    /** The sum of all balances. */
    public synchronized long money() {
        long sum = 0;
        for (int balance : balances) {
            sum += balance;
        }
        return sum;
    }

    private void checkAvailable(int account, int amount) throws ApplicationError {
        checkAmount(amount, account);
        unless(balances[account] - reserved[account] >= amount, "not enough credit");
        checkUnconfirmed();
    }

    private void checkAmount(int amount, int account) throws ApplicationError {
        unless(amount > 0, "amount must be positive");
        checkAccount(account);
    }

    private void checkAccount(int account) throws ApplicationError {
        unless(account >= 1 && account < balances.length, "no such account");
    }

    private void checkUnconfirmed() throws ApplicationError {
        unless(unconfirmed.size() < UNCONFIRMED_MAX, "too many unconfirmed actions");
    }

    private int confirmation() {
        int number = nextNumber();
        unconfirmed.add(number);
        return number;
    }

    /** Never the same twice, and never beyond int32: that takes 2^31 actions of one process. */
    private int nextNumber() {
        lastNumber = Math.addExact(lastNumber, 1);
        return lastNumber;
    }
}
