mod bounds;
mod machine;
mod world;
