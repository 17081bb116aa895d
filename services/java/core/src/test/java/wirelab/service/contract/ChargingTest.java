package wirelab.service.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Money is never lost or made, and errors come in the contract's order. */
class ChargingTest {
    private final Charging charging = new Charging(2, 100);

    @Test
    void theFirstErrorThatAppliesIsAnswered() throws ApplicationError {
        assertRefused("amount must be positive", () -> charging.credit(9, 0));
        assertRefused("no such account", () -> charging.credit(0, 1));
        assertRefused("no such account", () -> charging.directDebit(3, 1));
        assertRefused("balance must not exceed 2147483647", () -> charging.credit(1, Integer.MAX_VALUE));
        assertRefused("not enough credit", () -> charging.directDebit(1, 101));
        assertRefused("unknown reservation", () -> charging.releaseRes(7));
        assertRefused("unknown confirmation", () -> charging.confirmAction(7));
        int reservation = charging.reserve(1, 60).reservation();
        assertRefused("not enough credit", () -> charging.reserve(1, 41));
        assertRefused("unknown reservation", () -> charging.debitReservation(2, 1, reservation));
        assertRefused("not enough credit", () -> charging.debitReservation(1, 61, reservation));
        assertRefused("amount must be positive", () -> charging.debitReservation(1, -1, reservation));
        assertEquals(new Charging.Holding(100, 60), charging.creditControl(1));
    }

    @Test
    void aReservationEndsOnceAndReleasesItsRest() throws ApplicationError {
        int reservation = charging.reserve(1, 60).reservation();
        charging.debitReservation(1, 10, reservation);
        assertEquals(new Charging.Holding(90, 0), charging.creditControl(1));
        assertRefused("unknown reservation", () -> charging.releaseRes(reservation));
    }

    @Test
    void aConfirmationIsKnownOnce() throws ApplicationError {
        int confirmation = charging.credit(1, 5);
        assertEquals(confirmation, charging.confirmAction(confirmation));
        assertRefused("unknown confirmation", () -> charging.confirmAction(confirmation));
    }

    @Test
    void unconfirmedActionsAreBounded() throws ApplicationError {
        Charging rich = new Charging(1, 0);
        for (int at = 0; at < Charging.UNCONFIRMED_MAX; at++) {
            rich.credit(1, 1);
        }
        assertRefused("too many unconfirmed actions", () -> rich.credit(1, 1));
        assertRefused("not enough credit", () -> rich.directDebit(1, Integer.MAX_VALUE));
        assertEquals(Charging.UNCONFIRMED_MAX, rich.money());
    }

    @Test
    void threadsNeitherLoseNorMakeMoney() throws Exception {
        AtomicLong moved = new AtomicLong();
        Set<Integer> numbers = ConcurrentHashMap.newKeySet();
        ExecutorService threads = Executors.newFixedThreadPool(8);
        List<Future<?>> all = new ArrayList<>();
        for (int seed = 0; seed < 8; seed++) {
            Random random = new Random(seed);
            all.add(threads.submit(() -> {
                for (int at = 0; at < 3000; at++) {
                    step(random, moved, numbers);
                }
            }));
        }
        for (Future<?> each : all) {
            each.get();
        }
        threads.shutdown();
        assertEquals(200 + moved.get(), charging.money());
        for (int account = 1; account <= 2; account++) {
            Charging.Holding held = charging.creditControl(account);
            assertEquals(0, held.reserved());
            assertTrue(held.balance() >= 0);
        }
    }

    /** One action and its end; what it moves is noted, and every number is new. */
    private void step(Random random, AtomicLong moved, Set<Integer> numbers) {
        int account = 1 + random.nextInt(2);
        int amount = 1 + random.nextInt(30);
        try {
            switch (random.nextInt(4)) {
                case 0 -> {
                    fresh(numbers, charging.credit(account, amount));
                    moved.addAndGet(amount);
                }
                case 1 -> {
                    fresh(numbers, charging.directDebit(account, amount));
                    moved.addAndGet(-amount);
                }
                case 2 -> {
                    Charging.Reserved made = charging.reserve(account, amount);
                    fresh(numbers, made.reservation());
                    fresh(numbers, charging.debitReservation(account, amount, made.reservation()));
                    moved.addAndGet(-amount);
                }
                default -> fresh(numbers, charging.releaseRes(charging.reserve(account, amount).reservation()));
            }
        } catch (ApplicationError poor) {
            assertEquals("not enough credit", poor.getMessage());
        }
    }

    private static void fresh(Set<Integer> numbers, int number) {
        assertTrue(number > 0 && numbers.add(number), "number " + number + " was given before");
    }

    private static void assertRefused(String text, Executable call) {
        assertEquals(text, assertThrows(ApplicationError.class, call).getMessage());
    }
}
