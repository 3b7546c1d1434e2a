"""The numbers of the system calls that the filter names, by processor."""

from collections.abc import Mapping

NEWEST = 462
"""The last call that the filter knows of (`mseal`); newer ones have one number everywhere."""

_X86_64 = """
ptrace=101 process_vm_readv=310 process_vm_writev=311 kcmp=312 pidfd_getfd=438
process_madvise=440 io_uring_setup=425 io_uring_enter=426 io_uring_register=427 bpf=321
perf_event_open=298 userfaultfd=323 keyctl=250 add_key=248 request_key=249 unshare=272
setns=308 mount=165 umount2=166 pivot_root=155 chroot=161 move_mount=429 open_tree=428
fsopen=430 fsconfig=431 fsmount=432 fspick=433 mount_setattr=442 swapon=167 swapoff=168
reboot=169 kexec_load=246 kexec_file_load=320 init_module=175 finit_module=313
delete_module=176 open_by_handle_at=304 name_to_handle_at=303 quotactl=179 quotactl_fd=443
acct=163 syslog=103 settimeofday=164 clock_settime=227 adjtimex=159 clock_adjtime=305
sethostname=170 setdomainname=171 vhangup=153 iopl=172 ioperm=173 fanotify_init=300
migrate_pages=256 move_pages=279 modify_ldt=154 lookup_dcookie=212 uselib=134 setxattr=188
lsetxattr=189 fsetxattr=190 removexattr=197 lremovexattr=198 fremovexattr=199 shmget=29
shmat=30 shmctl=31 semget=64 semop=65 semctl=66 semtimedop=220 msgget=68 msgsnd=69 msgrcv=70
msgctl=71 mq_open=240 mq_unlink=241 chmod=90 fchmod=91 fchmodat=268 fchmodat2=452 chown=92
fchown=93 lchown=94 fchownat=260 utime=132 utimes=235 futimesat=261 utimensat=280 clone3=435
openat2=437 open=2 openat=257 creat=85 mknod=133 mknodat=259 clone=56 socket=41 prlimit64=302
setpriority=141 ioprio_set=251 sched_setaffinity=203 sched_setscheduler=144 sched_setparam=142
sched_setattr=314
"""
_AARCH64 = """
ptrace=117 process_vm_readv=270 process_vm_writev=271 kcmp=272 pidfd_getfd=438
process_madvise=440 io_uring_setup=425 io_uring_enter=426 io_uring_register=427 bpf=280
perf_event_open=241 userfaultfd=282 keyctl=219 add_key=217 request_key=218 unshare=97 setns=268
mount=40 umount2=39 pivot_root=41 chroot=51 move_mount=429 open_tree=428 fsopen=430
fsconfig=431 fsmount=432 fspick=433 mount_setattr=442 swapon=224 swapoff=225 reboot=142
kexec_load=104 kexec_file_load=294 init_module=105 finit_module=273 delete_module=106
open_by_handle_at=265 name_to_handle_at=264 quotactl=60 quotactl_fd=443 acct=89 syslog=116
settimeofday=170 clock_settime=112 adjtimex=171 clock_adjtime=266 sethostname=161
setdomainname=162 vhangup=58 fanotify_init=262 migrate_pages=238 move_pages=239
lookup_dcookie=18 setxattr=5 lsetxattr=6 fsetxattr=7 removexattr=14 lremovexattr=15
fremovexattr=16 shmget=194 shmat=196 shmctl=195 semget=190 semop=193 semctl=191 semtimedop=192
msgget=186 msgsnd=189 msgrcv=188 msgctl=187 mq_open=180 mq_unlink=181 fchmod=52 fchmodat=53
fchmodat2=452 fchown=55 fchownat=54 utimensat=88 clone3=435 openat2=437 openat=56 mknodat=33
clone=220 socket=198 prlimit64=261 setpriority=140 ioprio_set=30 sched_setaffinity=122
sched_setscheduler=119 sched_setparam=118 sched_setattr=274
"""


def _read(words: str) -> dict[str, int]:
    pairs = (word.split("=") for word in words.split())
    return {name: int(number) for name, number in pairs}


NUMBERS: Mapping[str, Mapping[str, int]] = {"x86_64": _read(_X86_64), "aarch64": _read(_AARCH64)}
