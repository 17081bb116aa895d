// What the threads of watched processes did while packets waited.
//
// Raw tracepoints with BTF (`tp_btf`), Linux 6.3 and later. One record per period off the
// CPU, per read and per write of a TCP socket: what belongs together is put together here, so
// that few records leave the kernel. No call and no lock of its own; every map is bounded.
//
// Built by crates/host/build-bpf with clang 14; the object is committed next to this file.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define SEC(name) __attribute__((section(name), used))
#define __uint(name, value) int(*name)[value]
#define __type(name, value) typeof(value) *name
#define CORE __attribute__((preserve_access_index))

// linux/bpf.h: numbers of map types and helpers.
enum { MAP_HASH = 1, MAP_ARRAY = 2, MAP_PERCPU_ARRAY = 6, MAP_LRU_HASH = 9, MAP_RINGBUF = 27 };
enum { ANY = 0, NOEXIST = 1 };

static void *(*const map_lookup)(void *map, const void *key) = (void *)1;
static long (*const map_update)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*const map_delete)(void *map, const void *key) = (void *)3;
static u64 (*const ktime_get_ns)(void) = (void *)5;
static void *(*const ringbuf_reserve)(void *ring, u64 size, u64 flags) = (void *)131;
static void (*const ringbuf_submit)(void *data, u64 flags) = (void *)132;
static u64 (*const ringbuf_query)(void *ring, u64 flags) = (void *)134;
static struct task_struct *(*const current_task)(void) = (void *)158;
static long (*const task_pt_regs)(struct task_struct *task) = (void *)175;

// Of the kernel's types the fields that are read; their places come from the kernel's BTF.
struct pt_regs {
	unsigned long orig_ax;
} CORE;

struct task_struct {
	int pid;
	int tgid;
	unsigned in_iowait : 1;
} CORE;

struct in6_addr {
	u8 bytes[16];
};

struct sock_common {
	u32 skc_daddr;
	u16 skc_dport;
	u16 skc_num;
	u16 skc_family;
	struct in6_addr skc_v6_daddr;
} CORE;

struct sock {
	struct sock_common __sk_common;
	u16 sk_type;
} CORE;

enum { FAMILY_INET = 2, FAMILY_INET6 = 10, SOCK_STREAM = 1, MSG_PEEK = 2 };
enum { STATE_UNINTERRUPTIBLE = 2, STATE_DEAD = 128 };

// The record of crates/trace/src/host/record.rs: 64 bytes, little-endian.
struct record {
	u64 at; // Ran again; read; wrote.
	u64 out_at; // Left the CPU; data had been ready.
	u64 woken_at; // Made runnable; bytes.
	u64 ran_at; // Had begun to run before that.
	u32 tid;
	u8 kind;
	u8 flags;
	u16 pad;
	u32 waker;
	union {
		struct {
			short syscall;
			short waker_syscall;
		};
		struct {
			u16 local_port;
			u16 remote_port;
		};
	};
	u8 remote[16];
};

enum { KIND_OFF_CPU = 1, KIND_READ = 2, KIND_WRITE = 3 };
enum {
	FLAG_PREEMPTED = 1,
	FLAG_IO_WAIT = 2,
	FLAG_UNINTERRUPTIBLE = 4,
	FLAG_WOKEN_BY_OWN = 8,
	FLAG_WOKEN_BY_DATA = 16,
};

struct thread {
	u64 out_at;
	u64 woken_at;
	u64 ran_at;
	u32 waker;
	u8 flags;
	u8 is_off;
	short syscall;
	short waker_syscall;
	u16 pad;
	u32 pad2;
};

struct {
	__uint(type, MAP_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u8);
} watched SEC(".maps");

struct {
	__uint(type, MAP_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct thread);
} threads SEC(".maps");

// Ports at which watched processes have read.
struct {
	__uint(type, MAP_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u16);
	__type(value, u8);
} ports SEC(".maps");

// Since when a socket has unread data. Its ports show whether it is the same socket still: the
// kernel uses the memory of closed ones again.
struct unread {
	u64 since;
	u64 ports;
};

// Sockets with unread data, by address.
struct {
	__uint(type, MAP_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, u64);
	__type(value, struct unread);
} ready SEC(".maps");

// When data was last ready on this processor, at any socket.
struct {
	__uint(type, MAP_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} last_ready SEC(".maps");

struct {
	__uint(type, MAP_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} drops SEC(".maps");

struct {
	__uint(type, MAP_RINGBUF);
	__uint(max_entries, 8 << 20);
} records SEC(".maps");

// A wake-up follows the data that caused it within this time: the tracepoint is the first
// statement of sock_def_readable, the wake-up its next; 31 us were seen on a busy machine.
#define DATA_WAKES_NS 50000
// The reader is woken when this number of bytes wait: wake-ups cost more than records do.
#define WAKE_READER_BYTES (1 << 20)
#define RING_NO_WAKEUP 1
#define RING_FORCE_WAKEUP 2
#define RING_AVAIL_DATA 0

static inline int is_watched(u32 tgid)
{
	return map_lookup(&watched, &tgid) != 0;
}

static inline struct record *reserve(void)
{
	struct record *record = ringbuf_reserve(&records, sizeof(*record), 0);
	if (!record) {
		u32 zero = 0;
		u64 *count = map_lookup(&drops, &zero);
		if (count)
			*count += 1;
	}
	return record;
}

static inline void submit(struct record *record)
{
	u64 waiting = ringbuf_query(&records, RING_AVAIL_DATA);
	ringbuf_submit(record, waiting > WAKE_READER_BYTES ? RING_FORCE_WAKEUP : RING_NO_WAKEUP);
}

// A load of a bit-field is moved to the kernel's place by bytes only: the place of its bits
// is asked for apart (linux/tools/lib/bpf, enum bpf_core_field_info_kind).
static inline int is_in_iowait(struct task_struct *task)
{
	enum { BYTE_OFFSET = 0, BYTE_SIZE = 1, LSHIFT_U64 = 4, RSHIFT_U64 = 5 };
	const void *place = (const void *)task + __builtin_preserve_field_info(task->in_iowait, BYTE_OFFSET);
	u64 value = 0;
	// The place is computed, not folded into the loads, whose width the loader would change.
	__asm__ volatile("" : "+r"(place));
	switch (__builtin_preserve_field_info(task->in_iowait, BYTE_SIZE)) {
	case 1:
		value = *(const u8 *)place;
		break;
	case 2:
		value = *(const u16 *)place;
		break;
	case 4:
		value = *(const u32 *)place;
		break;
	case 8:
		value = *(const u64 *)place;
		break;
	}
	value <<= __builtin_preserve_field_info(task->in_iowait, LSHIFT_U64);
	return value >> __builtin_preserve_field_info(task->in_iowait, RSHIFT_U64) != 0;
}

static inline u64 ports_of(struct sock *sk)
{
	return (u64)sk->__sk_common.skc_num << 16 | sk->__sk_common.skc_dport;
}

// Negative outside of system calls.
static inline short syscall_of(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)task_pt_regs(task);
	long number = regs->orig_ax;
	return number < 0 || number > 0x7fff ? -1 : number;
}

// The period off the CPU that ended at that time.
static inline void ended(u32 tid, const struct thread *known, u64 at)
{
	struct record *record = reserve();
	if (!record)
		return;
	record->at = at;
	record->out_at = known->out_at;
	record->woken_at = known->woken_at;
	record->ran_at = known->ran_at;
	record->tid = tid;
	record->kind = KIND_OFF_CPU;
	record->flags = known->flags;
	record->pad = 0;
	record->waker = known->waker;
	record->syscall = known->syscall;
	record->waker_syscall = known->waker_syscall;
	__builtin_memset(record->remote, 0, sizeof(record->remote));
	submit(record);
}

// It runs, and the kernel had not reported that it came back. That was after its wake-up; the
// next record shows that the time from then until now is not known.
static inline void came_back(u32 tid, struct thread *known, u64 now)
{
	if (known->woken_at)
		ended(tid, known, known->woken_at);
	known->is_off = 0;
	known->ran_at = now;
}

static inline void left(struct task_struct *prev, int preempt, u32 state, u64 now)
{
	u32 tid = prev->pid;
	struct thread *known = map_lookup(&threads, &tid);
	if (!known) {
		struct thread none = {};
		map_update(&threads, &tid, &none, NOEXIST);
		known = map_lookup(&threads, &tid);
		if (!known)
			return;
	}
	if (known->is_off)
		came_back(tid, known, now);
	known->out_at = now;
	known->is_off = 1;
	known->waker = 0;
	known->waker_syscall = -1;
	if (preempt || state == 0 || state & STATE_DEAD) {
		known->flags = FLAG_PREEMPTED;
		known->woken_at = now;
		known->syscall = -1;
		if (!preempt && state & STATE_DEAD) {
			// Its last record: an empty period, for `ran_at`.
			ended(tid, known, now);
			map_delete(&threads, &tid);
		}
		return;
	}
	known->flags = state & STATE_UNINTERRUPTIBLE ? FLAG_UNINTERRUPTIBLE : 0;
	if (is_in_iowait(prev))
		known->flags |= FLAG_IO_WAIT;
	known->woken_at = 0;
	known->syscall = syscall_of(prev);
}

static inline void entered(struct task_struct *next, u64 now)
{
	u32 tid = next->pid;
	struct thread *known = map_lookup(&threads, &tid);
	if (!known)
		return;
	// Otherwise the kernel did not report that it left: the next record shows another `ran_at`.
	if (known->is_off)
		ended(tid, known, now);
	known->is_off = 0;
	known->ran_at = now;
}

SEC("tp_btf/sched_switch")
int on_switch(u64 *ctx)
{
	struct task_struct *prev = (struct task_struct *)ctx[1];
	struct task_struct *next = (struct task_struct *)ctx[2];
	u64 now = ktime_get_ns();
	if (prev->tgid && is_watched(prev->tgid))
		left(prev, (int)ctx[0] & 1, (u32)ctx[3], now);
	if (next->tgid && is_watched(next->tgid))
		entered(next, now);
	return 0;
}

SEC("tp_btf/sched_waking")
int on_waking(u64 *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx[0];
	u32 tgid = task->tgid;
	if (!is_watched(tgid))
		return 0;
	u32 tid = task->pid, zero = 0;
	struct thread *known = map_lookup(&threads, &tid);
	if (!known || !known->is_off || known->woken_at)
		return 0;
	u64 now = ktime_get_ns();
	struct task_struct *waker = current_task();
	known->woken_at = now;
	known->waker = waker->pid;
	known->waker_syscall = syscall_of(waker);
	if (waker->tgid == tgid)
		known->flags |= FLAG_WOKEN_BY_OWN;
	u64 *data_at = map_lookup(&last_ready, &zero);
	if (data_at && now - *data_at < DATA_WAKES_NS)
		known->flags |= FLAG_WOKEN_BY_DATA;
	return 0;
}

SEC("tp_btf/sched_process_fork")
int on_fork(u64 *ctx)
{
	struct task_struct *parent = (struct task_struct *)ctx[0];
	struct task_struct *child = (struct task_struct *)ctx[1];
	u32 tgid = child->tgid;
	u8 one = 1;
	if (parent->tgid != tgid && is_watched(parent->tgid))
		map_update(&watched, &tgid, &one, ANY);
	return 0;
}

SEC("tp_btf/sk_data_ready")
int on_ready(u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	u64 now = ktime_get_ns();
	u32 zero = 0;
	u64 *last = map_lookup(&last_ready, &zero);
	if (last)
		*last = now;
	u16 port = sk->__sk_common.skc_num;
	u64 key = (u64)sk;
	if (!map_lookup(&ports, &port))
		return 0;
	struct unread unread = { now, ports_of(sk) };
	struct unread *known = map_lookup(&ready, &key);
	if (!known || known->ports != unread.ports)
		map_update(&ready, &key, &unread, ANY);
	return 0;
}

static inline void moved(struct sock *sk, int bytes, u8 kind)
{
	// 0 bytes are read at the end of a connection, whose FIN made it ready.
	if (bytes < 0 || (bytes == 0 && kind != KIND_READ))
		return;
	struct task_struct *task = current_task();
	if (!is_watched(task->tgid))
		return;
	u16 family = sk->__sk_common.skc_family;
	if (sk->sk_type != SOCK_STREAM || (family != FAMILY_INET && family != FAMILY_INET6))
		return;
	u16 port = sk->__sk_common.skc_num;
	u64 key = (u64)sk, ready_at = 0;
	if (kind == KIND_READ) {
		struct unread *unread = map_lookup(&ready, &key);
		if (unread) {
			if (unread->ports == ports_of(sk))
				ready_at = unread->since;
			map_delete(&ready, &key);
		} else if (!map_lookup(&ports, &port)) {
			u8 one = 1;
			map_update(&ports, &port, &one, ANY);
		}
	}
	if (bytes == 0)
		return;
	u32 tid = task->pid;
	u64 now = ktime_get_ns();
	struct thread *known = map_lookup(&threads, &tid);
	if (known && known->is_off)
		came_back(tid, known, now);
	struct record *record = reserve();
	if (!record)
		return;
	record->at = now;
	record->out_at = ready_at;
	record->woken_at = bytes;
	record->ran_at = 0;
	record->tid = tid;
	record->kind = kind;
	record->flags = 0;
	record->pad = 0;
	record->waker = 0;
	record->local_port = port;
	record->remote_port = __builtin_bswap16(sk->__sk_common.skc_dport);
	if (family == FAMILY_INET6) {
		// Addresses of IPv4 on a socket for both are mapped already (RFC 4291, 2.5.5.2).
		*(u64 *)record->remote = *(u64 *)&sk->__sk_common.skc_v6_daddr.bytes[0];
		*(u64 *)(record->remote + 8) = *(u64 *)&sk->__sk_common.skc_v6_daddr.bytes[8];
	} else {
		*(u64 *)record->remote = 0;
		*(u32 *)(record->remote + 8) = 0xffff0000;
		*(u32 *)(record->remote + 12) = sk->__sk_common.skc_daddr;
	}
	submit(record);
}

SEC("tp_btf/sock_recv_length")
int on_read(u64 *ctx)
{
	if (!((int)ctx[2] & MSG_PEEK))
		moved((struct sock *)ctx[0], (int)ctx[1], KIND_READ);
	return 0;
}

SEC("tp_btf/sock_send_length")
int on_write(u64 *ctx)
{
	moved((struct sock *)ctx[0], (int)ctx[1], KIND_WRITE);
	return 0;
}

// The kernel's helpers ask for a licence that is compatible with its own.
char LICENSE[] SEC("license") = "Dual MIT/GPL";
