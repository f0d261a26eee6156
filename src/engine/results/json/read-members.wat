;; Reads members of an export that are like ones seen before, to the byte but for their address.
;; `npm run kernel` compiles this into read-members.wasm.txt; a test holds the two together.
;; record-templates.ts lays out the memory. Behind the bytes of the export stands a zero, which no legal
;; JSON holds: so nothing here looks for their end, and whatever is read behind it cannot fit.
(module
  ;; Of its 13.5 MB at most nearly all is for records.
  (memory (export "memory") 16 206)

  (func $skipSpace (param $at i32) (result i32)
    (local $byte i32)
    (loop $next
      (local.set $byte (i32.load8_u (local.get $at)))
      (if
        (i32.or
          (i32.or
            (i32.eq (local.get $byte) (i32.const 0x20))
            (i32.eq (local.get $byte) (i32.const 0x0a)))
          (i32.or
            (i32.eq (local.get $byte) (i32.const 0x0d))
            (i32.eq (local.get $byte) (i32.const 0x09))))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br $next))))
    (local.get $at))

  ;; Where the next byte stands that is not printable ASCII, or is a quote or a backslash.
  (func $plainEnd (param $at i32) (result i32)
    (local $bytes v128)
    (local $found i32)
    (loop $blocks
      (local.set $bytes (v128.load (local.get $at)))
      ;; One bit for each byte. Those beyond ASCII are below zero.
      (local.set $found
        (i8x16.bitmask
          (v128.or
            (v128.or
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c))))
            (v128.or
              (i8x16.lt_s (local.get $bytes) (i8x16.splat (i32.const 0x20)))
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x7f)))))))
      (if (i32.eqz (local.get $found))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br $blocks))))
    (i32.add (local.get $at) (i32.ctz (local.get $found))))

  ;; Where the next closing brace stands, or the zero.
  (func $brace (param $at i32) (result i32)
    (local $bytes v128)
    (local $found i32)
    (loop $blocks
      (local.set $bytes (v128.load (local.get $at)))
      (local.set $found
        (i8x16.bitmask
          (v128.or
            (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x7d)))
            (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0))))))
      (if (i32.eqz (local.get $found))
        (then
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br $blocks))))
    (i32.add (local.get $at) (i32.ctz (local.get $found))))

  ;; All bits of the first $length bytes of sixteen.
  (func $first (param $length i32) (result v128)
    (i8x16.lt_u
      (v128.const i8x16 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
      (i8x16.splat (local.get $length))))

  ;; Whether the same bytes stand at two places.
  (func $same (param $one i32) (param $other i32) (param $length i32) (result i32)
    (block $different
      (block $rest
        (loop $blocks
          (br_if $rest (i32.lt_u (local.get $length) (i32.const 16)))
          (br_if $different
            (v128.any_true
              (v128.xor (v128.load (local.get $one)) (v128.load (local.get $other)))))
          (local.set $one (i32.add (local.get $one) (i32.const 16)))
          (local.set $other (i32.add (local.get $other) (i32.const 16)))
          (local.set $length (i32.sub (local.get $length) (i32.const 16)))
          (br $blocks)))
      (return
        (i32.eqz
          (v128.any_true
            (v128.and
              (v128.xor (v128.load (local.get $one)) (v128.load (local.get $other)))
              (call $first (local.get $length)))))))
    (i32.const 0))

  ;; Goes on with a hash, four of 32 bits side by side: each takes in every fourth word.
  (func $mix (param $hash v128) (param $from i32) (param $to i32) (result v128)
    (block $rest
      (loop $blocks
        (br_if $rest (i32.lt_u (i32.sub (local.get $to) (local.get $from)) (i32.const 16)))
        (local.set $hash
          (v128.xor
            (i32x4.add (local.get $hash) (i32x4.shl (local.get $hash) (i32.const 5)))
            (v128.load (local.get $from))))
        (local.set $from (i32.add (local.get $from) (i32.const 16)))
        (br $blocks)))
    (v128.xor
      (i32x4.add (local.get $hash) (i32x4.shl (local.get $hash) (i32.const 5)))
      (v128.and
        (v128.load (local.get $from))
        (call $first (i32.sub (local.get $to) (local.get $from))))))

  ;; The place of the bucket for a record: by what stands in front of its address and behind it, up to
  ;; the first closing brace there.
  (func $bucket (export "bucket")
    (param $head i32) (param $headEnd i32) (param $rest i32) (param $restEnd i32)
    (param $buckets i32) (result i32)
    (local $hash v128)
    (local.set $hash
      (call $mix
        (call $mix (v128.const i32x4 0 0 0 0) (local.get $head) (local.get $headEnd))
        (local.get $rest)
        (local.get $restEnd)))
    ;; 65,536 buckets of four bytes.
    (i32.add
      (local.get $buckets)
      (i32.and
        (i32.shr_u
          (i32.mul
            (i32.xor
              (i32.mul (i32x4.extract_lane 0 (local.get $hash)) (i32.const 0x9e3779b1))
              (i32.xor
                (i32.mul (i32x4.extract_lane 1 (local.get $hash)) (i32.const 0x85ebca6b))
                (i32.xor
                  (i32.mul (i32x4.extract_lane 2 (local.get $hash)) (i32.const 0xc2b2ae35))
                  (i32.mul (i32x4.extract_lane 3 (local.get $hash)) (i32.const 0x27d4eb2f)))))
            (i32.const 0x165667b1))
          (i32.const 14))
        (i32.const 0x3fffc))))

  ;; Where the address in the record at $at begins, behind the $name in front of it: its member's name,
  ;; colon and quote. $at itself when a closing brace comes before it.
  (func $address (param $at i32) (param $name i32) (param $nameLength i32) (result i32)
    (local $from i32)
    (local $bytes v128)
    (local $stops i32)
    (local $stop i32)
    (local.set $from (local.get $at))
    (loop $blocks
      (local.set $bytes (v128.load (local.get $from)))
      (local.set $stops
        (i8x16.bitmask
          (v128.or
            (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
            (v128.or
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x7d)))
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0)))))))
      (block $next
        (loop $bits
          (br_if $next (i32.eqz (local.get $stops)))
          (local.set $stop (i32.add (local.get $from) (i32.ctz (local.get $stops))))
          (if (i32.ne (i32.load8_u (local.get $stop)) (i32.const 0x22))
            (then (return (local.get $at))))
          (if (call $same (local.get $stop) (local.get $name) (local.get $nameLength))
            (then (return (i32.add (local.get $stop) (local.get $nameLength)))))
          ;; The lowest bit goes.
          (local.set $stops (i32.and (local.get $stops) (i32.sub (local.get $stops) (i32.const 1))))
          (br $bits)))
      (local.set $from (i32.add (local.get $from) (i32.const 16)))
      (br $blocks))
    (unreachable))

  ;; Reads members from $at, behind a member, up to the first that is unlike those seen before, or until
  ;; $out meets $outEnd. For each writes six words to $out: where its key begins and ends, where its
  ;; value begins and ends, its outcome, and 1 where the address in its value is surely its key; and the
  ;; keys, one behind the other, to $keys. Returns where the words end.
  ;;
  ;; A bucket is the place of the first of its records, or 0. A record has four words and its bytes
  ;; without the address: the next of the bucket, lengths before and behind the address, the outcome.
  (func (export "read")
    (param $at i32) (param $buckets i32) (param $name i32) (param $nameLength i32)
    (param $out i32) (param $outEnd i32) (param $keys i32) (result i32)
    (local $keyStart i32)
    (local $keyEnd i32)
    (local $keyLength i32)
    (local $value i32)
    (local $headLength i32)
    (local $rest i32)
    (local $brace i32)
    ;; From the first closing brace behind the address to the record's end, as in the record before.
    (local $tail i32)
    (local $known i32)
    (local $copied i32)
    (block $end
      (loop $members
        (br_if $end (i32.ge_u (local.get $out) (local.get $outEnd)))
        (local.set $at (call $skipSpace (local.get $at)))
        (br_if $end (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x2c)))
        (local.set $at (call $skipSpace (i32.add (local.get $at) (i32.const 1))))
        (br_if $end (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x22)))
        (local.set $keyStart (i32.add (local.get $at) (i32.const 1)))
        (local.set $keyEnd (call $plainEnd (local.get $keyStart)))
        (br_if $end (i32.ne (i32.load8_u (local.get $keyEnd)) (i32.const 0x22)))
        (local.set $keyLength (i32.sub (local.get $keyEnd) (local.get $keyStart)))
        (local.set $at (call $skipSpace (i32.add (local.get $keyEnd) (i32.const 1))))
        (br_if $end (i32.ne (i32.load8_u (local.get $at)) (i32.const 0x3a)))
        (local.set $value (call $skipSpace (i32.add (local.get $at) (i32.const 1))))
        (local.set $rest
          (call $address (local.get $value) (local.get $name) (local.get $nameLength)))
        (local.set $headLength (i32.sub (local.get $rest) (local.get $value)))
        (if (local.get $headLength)
          (then (local.set $rest (call $plainEnd (local.get $rest)))))
        (local.set $brace (call $brace (local.get $rest)))
        (local.set $at (i32.add (local.get $brace) (local.get $tail)))
        (local.set $known
          (i32.load
            (call $bucket
              (local.get $value)
              (i32.add (local.get $value) (local.get $headLength))
              (local.get $rest)
              (local.get $brace)
              (local.get $buckets))))
        (block $found
          (loop $records
            (br_if $end (i32.eqz (local.get $known)))
            ;; The tail is a guess, so that the processor reads on while it waits for what is known.
            (if
              (i32.ne
                (i32.sub (local.get $at) (local.get $rest))
                (i32.load offset=8 (local.get $known)))
              (then
                (local.set $at (i32.add (local.get $rest) (i32.load offset=8 (local.get $known))))
                (local.set $tail (i32.sub (local.get $at) (local.get $brace)))))
            (if (i32.eq (i32.load offset=4 (local.get $known)) (local.get $headLength))
              (then
                (if
                  (call $same
                    (local.get $rest)
                    (i32.add (i32.add (local.get $known) (i32.const 16)) (local.get $headLength))
                    (i32.sub (local.get $at) (local.get $rest)))
                  (then
                    (br_if $found
                      (call $same
                        (local.get $value)
                        (i32.add (local.get $known) (i32.const 16))
                        (local.get $headLength)))))))
            (local.set $known (i32.load (local.get $known)))
            (br $records)))
        (i32.store (local.get $out) (local.get $keyStart))
        (i32.store offset=4 (local.get $out) (local.get $keyEnd))
        (i32.store offset=8 (local.get $out) (local.get $value))
        (i32.store offset=12 (local.get $out) (local.get $at))
        (i32.store offset=16 (local.get $out) (i32.load offset=12 (local.get $known)))
        (i32.store offset=20
          (local.get $out)
          (if (result i32)
            (i32.and
              (i32.ne (local.get $headLength) (i32.const 0))
              (i32.eq
                (i32.sub
                  (local.get $rest)
                  (i32.add (local.get $value) (local.get $headLength)))
                (local.get $keyLength)))
            (then
              (call $same
                (local.get $keyStart)
                (i32.add (local.get $value) (local.get $headLength))
                (local.get $keyLength)))
            (else (i32.const 0))))
        (local.set $out (i32.add (local.get $out) (i32.const 24)))
        (local.set $copied (i32.const 0))
        (loop $blocks
          (v128.store
            (i32.add (local.get $keys) (local.get $copied))
            (v128.load (i32.add (local.get $keyStart) (local.get $copied))))
          (local.set $copied (i32.add (local.get $copied) (i32.const 16)))
          (br_if $blocks (i32.lt_u (local.get $copied) (local.get $keyLength))))
        (local.set $keys (i32.add (local.get $keys) (local.get $keyLength)))
        (br $members)))
    (local.get $out)))
