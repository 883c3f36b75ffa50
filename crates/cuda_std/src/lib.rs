//! What a GPU kernel may use: indices, barriers, memory, warp operations and fast math.
