"""A seccomp filter as bytes of classic BPF: no library, no compiler, a deny list over everything risky.

Sources: Linux `include/uapi/linux/seccomp.h`, `include/uapi/linux/audit.h`, the system call tables
`arch/x86/entry/syscalls/syscall_64.tbl` and `include/uapi/asm-generic/unistd.h`. Both machines are little
endian, so the low half of argument n lies at offset 16 + 8 n of `struct seccomp_data`.
"""

from __future__ import annotations

import errno
import platform
import struct

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN, _AND = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCH = 0, 4
_NEW_NAMESPACES = 0x7E020000
_X32 = 0x40000000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
_STREAM, _SEQUENCE, _KIND = 1, 5, 0xF

_ARCHES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SHAPED = {
    "x86_64": {
        "socket": 41, "ioctl": 16, "clone": 56, "setsid": 112, "setpgid": 109, "socketpair": 53, "setpriority": 141,
        "prlimit64": 302, "sched_setaffinity": 203, "sched_setscheduler": 144, "sched_setparam": 142,
        "sched_setattr": 314,
    },
    "aarch64": {
        "socket": 198, "ioctl": 29, "clone": 220, "setsid": 157, "setpgid": 154, "socketpair": 199,
        "setpriority": 140, "prlimit64": 261, "sched_setaffinity": 122, "sched_setscheduler": 119,
        "sched_setparam": 118, "sched_setattr": 274,
    },
}  # fmt: skip
_NAMING_A_PROCESS = (
    "prlimit64",
    "sched_setaffinity",
    "sched_setscheduler",
    "sched_setparam",
    "sched_setattr",
)
# fmt: off
# Tracing, keys, kernel code and log, mounts, namespaces, handles: nothing a test needs, all of it a way out.
_DENIED = {
    "x86_64": {
        "ptrace": 101, "syslog": 103, "pivot_root": 155, "chroot": 161, "acct": 163, "mount": 165, "umount2": 166,
        "swapon": 167, "swapoff": 168, "reboot": 169, "init_module": 175, "delete_module": 176,
        "quotactl": 179, "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250,
        "unshare": 272, "perf_event_open": 298, "open_by_handle_at": 304, "setns": 308,
        "process_vm_readv": 310, "process_vm_writev": 311, "finit_module": 313, "kexec_file_load": 320,
        "bpf": 321, "userfaultfd": 323,
    },
    "aarch64": {
        "umount2": 39, "mount": 40, "syslog": 116, "pivot_root": 41, "chroot": 51, "quotactl": 60, "acct": 89,
        "unshare": 97, "kexec_load": 104, "init_module": 105, "delete_module": 106, "ptrace": 117,
        "reboot": 142, "add_key": 217, "request_key": 218, "keyctl": 219, "swapon": 224, "swapoff": 225,
        "perf_event_open": 241, "open_by_handle_at": 265, "setns": 268, "process_vm_readv": 270,
        "process_vm_writev": 271, "finit_module": 273, "bpf": 280, "userfaultfd": 282,
        "kexec_file_load": 294,
    },
}
# One number on every machine, since Linux 5.1.
_DENIED_EVERYWHERE = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "pidfd_getfd": 438,
    "mount_setattr": 442, "quotactl_fd": 443,
}
# fmt: on
_CLONE3 = 435
# Where the command shares the process and message spaces of the person's other programs: what reaches those, and
# marks on files, which Landlock does not guard.
# fmt: off
_DENIED_AMONG_OTHERS = {
    "x86_64": {
        "shmget": 29, "shmat": 30, "shmctl": 31, "semget": 64, "semop": 65, "semctl": 66, "shmdt": 67, "msgget": 68,
        "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "setxattr": 188, "lsetxattr": 189,
        "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199, "semtimedop": 220,
        "mq_open": 240, "mq_unlink": 241, "ioprio_set": 251, "migrate_pages": 256, "move_pages": 279, "kcmp": 312,
    },
    "aarch64": {
        "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
        "ioprio_set": 30, "mq_open": 180, "mq_unlink": 181, "msgget": 186, "msgctl": 187,
        "msgrcv": 188, "msgsnd": 189, "semget": 190, "semctl": 191, "semtimedop": 192, "semop": 193, "shmget": 194,
        "shmctl": 195, "shmat": 196, "shmdt": 197, "migrate_pages": 238, "move_pages": 239, "kcmp": 272,
    },
}
_DENIED_AMONG_OTHERS_EVERYWHERE = {
    "process_madvise": 440, "process_mrelease": 448, "setxattrat": 463, "removexattrat": 466, "file_setattr": 469,
}
# fmt: on


def supported(machine: str | None = None) -> bool:
    """True on machines whose system call numbers are known here (x86-64 and 64-bit ARM)."""
    return (machine or platform.machine()) in _ARCHES


def program(
    families: tuple[int, ...], pin_group: bool = False, among_others: bool = False, machine: str | None = None
) -> bytes:
    """The filter. `families` are the address families a socket may have; every other gives EACCES.

    `among_others`: there are no spaces of its own around the command. It can then neither use memory and messages
    that programs share by key, nor set limits and priorities of processes but its own, nor have pairs of datagram
    sockets, which can be pointed at any socket with a path. `pin_group` makes setsid and setpgid succeed without doing anything: a process group then holds every
    descendant, and one killpg reaches them all. Raises KeyError on an unknown machine (see `supported`).
    """
    machine = machine or platform.machine()
    arch, shaped = _ARCHES[machine], _SHAPED[machine]
    code = [_op(_LOAD, _ARCH), _op(_EQUAL, arch, 1, 0), _op(_RETURN, _KILL), _op(_LOAD, _NUMBER)]
    if machine == "x86_64":
        code += [_op(_AT_LEAST, _X32, 0, 1), _op(_RETURN, _KILL)]
    if pin_group:
        for name in ("setsid", "setpgid"):
            code += [_op(_EQUAL, shaped[name], 0, 1), _op(_RETURN, _ERRNO)]
    for number in (*_DENIED[machine].values(), *_DENIED_EVERYWHERE.values()):
        code += [_op(_EQUAL, number, 0, 1), _op(_RETURN, _ERRNO | errno.EPERM)]
    if among_others:
        code += _apart(machine)
    # clone3 hides its flags behind a pointer. ENOSYS makes every libc fall back to clone, which is looked into.
    code += [_op(_EQUAL, _CLONE3, 0, 1), _op(_RETURN, _ERRNO | errno.ENOSYS)]
    code += _when(
        shaped["clone"], 0, [_op(_ANY_BIT, _NEW_NAMESPACES, 0, 1), _op(_RETURN, _ERRNO | errno.EPERM)]
    )
    code += _when(
        shaped["ioctl"],
        1,
        [_op(_EQUAL, _TIOCSTI, 1, 0), _op(_EQUAL, _TIOCLINUX, 0, 1), _op(_RETURN, _ERRNO | errno.EPERM)],
    )
    code += [_op(_EQUAL, shaped["socket"], 0, 2 + len(families)), _op(_LOAD, 16)]
    code += [_op(_EQUAL, family, len(families) - at, 0) for at, family in enumerate(families)]
    code += [_op(_RETURN, _ERRNO | errno.EACCES), _op(_RETURN, _ALLOW)]
    return b"".join(code)


def _apart(machine: str) -> list[bytes]:
    """Keeps away from other processes of the same user, see `program`."""
    shaped, refused = _SHAPED[machine], _op(_RETURN, _ERRNO | errno.EPERM)
    numbers = (*_DENIED_AMONG_OTHERS[machine].values(), *_DENIED_AMONG_OTHERS_EVERYWHERE.values())
    code = [word for number in numbers for word in (_op(_EQUAL, number, 0, 1), refused)]
    only_zero = [_op(_EQUAL, 0, 1, 0), refused]  # 0 is the caller itself.
    for name in _NAMING_A_PROCESS:
        code += _when(shaped[name], 0, only_zero)
    for argument in (0, 1):  # PRIO_PROCESS, and of the caller.
        code += _when(shaped["setpriority"], argument, only_zero)
    code += _when(shaped["socketpair"], 0, [_op(_EQUAL, AF_UNIX, 1, 0), refused])
    kinds = [_op(_AND, _KIND), _op(_EQUAL, _STREAM, 2, 0), _op(_EQUAL, _SEQUENCE, 1, 0), refused]
    return code + _when(shaped["socketpair"], 1, kinds)


def _op(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    """One `struct sock_filter`; jumps count instructions to skip."""
    return struct.pack("<HBBI", code, when_true, when_false, value & 0xFFFFFFFF)


def _when(number: int, argument: int, body: list[bytes]) -> list[bytes]:
    """For system call `number`: look at `argument`, run `body`, then load the number again and go on."""
    load = [_op(_LOAD, 16 + 8 * argument), *body, _op(_LOAD, _NUMBER)]
    return [_op(_EQUAL, number, 0, len(load)), *load]
